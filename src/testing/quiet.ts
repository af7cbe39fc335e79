// Whether there is anything left to do, in a kit and in all that it talks to.
//
// A message is always in one of three places: an outbox, the transport, an inbox; and it is in the next before it leaves the
// last (a handler's messages and the completion of what it handles are one transaction). So when the transport holds
// nothing from before the tables are read until after, and nothing was handed to it meanwhile, then empty tables mean
// that there was nothing anywhere.
import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type { InProcessTransport } from '../transports/index.js';
import { describeOpen, type OpenMessage } from './open-work.js';

export interface QuietMember {
  readonly service: string;
  open(): Promise<readonly OpenMessage[]>;
  isHandled(type: string): boolean;
  /** What failed and waits for its next attempt need not wait any longer. */
  retryNow(): Promise<void>;
}

/** The kits that share a transport. They are quiet together or not at all. */
export class QuietCircle {
  readonly members = new Set<QuietMember>();
  readonly #transport: InProcessTransport;
  #sends = 0;

  constructor(transport: InProcessTransport) {
    this.#transport = transport;
  }

  /** To be called before anything is handed to the transport. */
  noteSend(): void {
    this.#sends++;
  }

  async untilQuiet(seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const seen = await this.#look();
      if (seen.isQuiet) return;
      if (performance.now() > end) throw notQuiet(seconds, await this.#complaints());
      for (const { member, open } of seen.all) {
        if (open.some(({ state }) => state === 'failed')) await member.retryNow();
      }
      await pause(5);
    }
  }

  async #look() {
    const sends = this.#sends;
    const wasEmpty = this.#transport.pending() === 0;
    const all = await Promise.all(
      Array.from(this.members, async (member) => ({ member, open: await member.open() })),
    );
    const stayedEmpty = wasEmpty && this.#transport.pending() === 0 && sends === this.#sends;
    const isDone = all.every(({ open }) => open.every(({ state }) => state === 'delayed'));
    return { all, isQuiet: stayedEmpty && isDone };
  }

  async #complaints(): Promise<readonly string[]> {
    const { all } = await this.#look();
    const lines = all.flatMap(({ member, open }) =>
      open
        .filter(({ state }) => state !== 'delayed')
        .map((message) => describeOpen(message, { isHandled: member.isHandled(message.type) })),
    );
    const pending = this.#transport.pending();
    return pending === 0
      ? lines
      : [...lines, `- in the transport: ${pending} messages that are not stored yet`];
  }
}

const circles = new WeakMap<InProcessTransport, QuietCircle>();

export function circleOf(transport: InProcessTransport): QuietCircle {
  const circle = circles.get(transport) ?? new QuietCircle(transport);
  circles.set(transport, circle);
  return circle;
}

function notQuiet(seconds: number, lines: readonly string[]): AssertionError {
  const what = lines.length === 0 ? 'New messages kept coming.' : `What is left:\n${lines.join('\n')}`;
  return new AssertionError({ message: `It was not quiet within ${seconds} s. ${what}`, operator: 'quiet' });
}
