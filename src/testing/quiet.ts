// Whether there is anything left to do, in a kit and in all kits that share its transport.
//
// A message is always in one of three places: an outbox, the transport, an inbox. It is in the next one
// before it leaves the last (a handler's messages and the completion of what it handles are one transaction).
// So when the transport is empty from before the tables are read until after, and nothing was sent to it
// meanwhile, empty tables mean that no message was in any of the three places. What perspectives have to do is
// read in the same snapshot as the messages.
import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type { InProcessTransport } from '../transports/index.js';
import { describePerspective } from './open-perspectives.js';
import { describeOpen, type OpenWork } from './open-work.js';

export interface QuietMember {
  readonly service: string;
  open(): Promise<OpenWork>;
  isHandled(type: string): boolean;
  /** Makes failed messages, and held streams of perspectives, that wait for their next attempt due at once. */
  retryNow(): Promise<void>;
}

/** The kits that share a transport. They are quiet only when all of them are. */
export class QuietCircle {
  readonly members = new Set<QuietMember>();
  readonly #transport: InProcessTransport;
  #sends = 0;

  constructor(transport: InProcessTransport) {
    this.#transport = transport;
  }

  /** Counts a send. Call it before anything is sent to the transport. */
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
        const isFailed = ({ state }: { readonly state: string }) => state === 'failed';
        if (open.messages.some(isFailed) || open.perspectives.some(isFailed)) await member.retryNow();
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
    const isDone = all.every(
      ({ open }) => open.messages.every(({ state }) => state === 'delayed') && open.perspectives.length === 0,
    );
    return { all, isQuiet: stayedEmpty && isDone };
  }

  async #complaints(): Promise<readonly string[]> {
    const { all } = await this.#look();
    const lines = all.flatMap(({ member, open }) => [
      ...open.messages
        .filter(({ state }) => state !== 'delayed')
        .map((message) => describeOpen(message, { isHandled: member.isHandled(message.type) })),
      ...open.perspectives.map(describePerspective),
    ]);
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
  const what = lines.length === 0 ? 'New messages kept arriving.' : `What is left:\n${lines.join('\n')}`;
  return new AssertionError({
    message: `There was still work after ${seconds} s. ${what}`,
    operator: 'quiet',
  });
}
