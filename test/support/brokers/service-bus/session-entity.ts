import type { Connection, Message, Receiver, Sender } from 'rhea';
import { SessionLink } from './session-link.js';
import { type StoredMessage, sessionOf } from './stored-message.js';

interface EntitySettings {
  requiresSession: boolean;
  lockMs: number;
  maxDeliveryCount: number;
}

interface Waiting {
  readonly link: Sender;
  readonly timer: NodeJS.Timeout;
}

/** A subscription or queue: messages in the order of arrival, and who holds which session. In memory, over outages. */
export class SessionEntity {
  requiresSession: boolean;
  lockMs: number;
  maxDeliveryCount: number;
  messages: StoredMessage[] = [];
  readonly deadLetters: { readonly stored: StoredMessage; readonly reason: string }[] = [];
  readonly #holders = new Map<string, SessionLink>();
  #waiting: Waiting[] = [];
  #sequence = 0;

  constructor(
    readonly path: string,
    settings: EntitySettings,
  ) {
    this.requiresSession = settings.requiresSession;
    this.lockMs = settings.lockMs;
    this.maxDeliveryCount = settings.maxDeliveryCount;
  }

  store(message: Message): void {
    const stored = {
      sequence: ++this.#sequence,
      message,
      enqueuedAt: Date.now(),
      deliveryCount: 0,
      lockedBy: undefined,
    };
    if (this.requiresSession && message.group_id === undefined) {
      this.deadLetters.push({ stored, reason: 'Session ID is null' });
      return;
    }
    this.messages.push(stored);
    this.#holders.get(sessionOf(stored))?.push();
    this.#serve();
  }

  /** A receiver asks for a session, or for the next one that is free and has messages; it waits for that. */
  accept(link: Sender, sessionId: string | undefined, timeoutMs: number): void {
    if (sessionId !== undefined) {
      if (this.#holders.has(sessionId)) refuse(link, 'com.microsoft:session-cannot-be-locked', sessionId);
      else this.#hold(link, sessionId);
      return;
    }
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((each) => each.link !== link);
      refuse(link, 'com.microsoft:timeout', 'No session became available in time.');
    }, timeoutMs);
    timer.unref();
    this.#waiting.push({ link, timer });
    this.#serve();
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const free = this.messages.find(
        (each) => each.lockedBy === undefined && !this.#holders.has(sessionOf(each)),
      );
      if (free === undefined) return;
      const { link, timer } = this.#waiting.shift() as Waiting;
      clearTimeout(timer);
      this.#hold(link, sessionOf(free));
    }
  }

  #hold(link: Sender, sessionId: string): void {
    const holder = new SessionLink(link, this, sessionId);
    this.#holders.set(sessionId, holder);
    holder.open();
  }

  nextOf(sessionId: string): StoredMessage | undefined {
    return this.messages.find((each) => each.lockedBy === undefined && sessionOf(each) === sessionId);
  }

  holderOf(sessionId: string): SessionLink | undefined {
    return this.#holders.get(sessionId);
  }

  holders(): readonly SessionLink[] {
    return [...this.#holders.values()];
  }

  /** The link is gone, by a close, a lost connection or an expired lock: its messages are available in their places. */
  release(holder: SessionLink, { counts }: { readonly counts: boolean }): void {
    holder.forget();
    if (this.#holders.get(holder.sessionId) === holder) this.#holders.delete(holder.sessionId);
    for (const stored of this.messages.filter(({ lockedBy }) => lockedBy === holder)) {
      stored.lockedBy = undefined;
      if (counts) this.#count(stored);
    }
    this.#serve();
  }

  linkClosed(link: Sender): void {
    const waiting = this.#waiting.find((each) => each.link === link);
    if (waiting !== undefined) clearTimeout(waiting.timer);
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    for (const holder of this.holders()) if (holder.link === link) this.release(holder, { counts: false });
  }

  forgetWaiting(connection: Connection): void {
    for (const { link } of this.#waiting) if (link.connection === connection) this.linkClosed(link);
  }

  complete(stored: StoredMessage): void {
    this.messages.splice(this.messages.indexOf(stored), 1);
  }

  giveBack(stored: StoredMessage): void {
    stored.lockedBy = undefined;
    this.#count(stored);
  }

  deadLetter(stored: StoredMessage, reason: string): void {
    this.complete(stored);
    this.deadLetters.push({ stored, reason });
  }

  #count(stored: StoredMessage): void {
    stored.deliveryCount++;
    if (stored.deliveryCount >= this.maxDeliveryCount) this.deadLetter(stored, 'MaxDeliveryCountExceeded');
  }
}

export function refuse(link: Sender | Receiver, condition: string, description: string): void {
  link.open();
  link.close({ condition, description });
}
