// Services that talk over the transport on trial, and what has arrived at each: an id once, as in an inbox.
import { expect } from 'vitest';
import type { TransportMessage, TransportTraits } from '../../src/transports/index.js';
import { eventually } from '../support/eventually.js';
import { type Habits, Member } from './member.js';
import { ids, message, storedPart } from './messages.js';
import type { Lacking, StoredMessage, TransportSubject } from './subject.js';

export { never } from './member.js';
export { expectOrder, ids, interleaved, message, messageOf, storedPart, stream } from './messages.js';

const demanding: TransportTraits = { moves: 'stream', sent: 'unknown', knowsReceivers: false };

export class World implements AsyncDisposable {
  readonly #inboxes = new Map<string, Map<string, StoredMessage>>();
  readonly #members: Member[] = [];
  readonly #patienceMs: number;

  constructor(
    readonly subject: TransportSubject,
    /** How long to wait for what has to come. Long, because the machine may be busy, also with other cases. */
    patienceMs = 120_000,
  ) {
    this.#patienceMs = patienceMs;
  }

  get traits(): TransportTraits {
    return this.subject.traits ?? demanding;
  }

  /** Whether the subject can stage this. */
  async stages(what: keyof Lacking): Promise<boolean> {
    const { subject } = this;
    if (what === 'crash') return (await this.join('shop')).instance.crash !== undefined;
    if (what === 'states') return (await this.join('shop')).instance.states !== undefined;
    if (what === 'dropMiddleOf') return subject.dropMiddleOf !== undefined;
    if (what === 'locks') return subject.locksMs !== undefined;
    if (what === 'sizeLimit') return this.traits.maxMessageBytes !== undefined;
    if (what === 'foreignEvents' || what === 'binaryMode') return subject.sendForeign !== undefined;
    if (what === 'unreadableContent') return subject.sendUnreadable !== undefined;
    return true;
  }

  /** How many messages of a stream an instance with this prefetch has before it acknowledges. */
  handed(prefetch: number): number {
    return Math.min(prefetch, this.subject.atOnceOfStream ?? prefetch);
  }

  /** An instance that only sends. */
  async join(service: string): Promise<Member> {
    const member = new Member(this, service, await this.subject.join(service), this.#members.length % 3);
    this.#members.push(member);
    return member;
  }

  /** An instance that listens, too. */
  async listen(service: string, habits: Habits = {}): Promise<Member> {
    const member = await this.join(service);
    await member.listen(habits);
    return member;
  }

  store(service: string, message: TransportMessage): void {
    const stored = storedPart(message);
    const inbox = this.#inboxes.get(service) ?? new Map<string, StoredMessage>();
    this.#inboxes.set(service, inbox);
    if (!inbox.has(stored.messageId)) inbox.set(stored.messageId, stored);
  }

  async stored(service: string): Promise<readonly StoredMessage[]> {
    if (this.subject.stored !== undefined) return this.subject.stored(service);
    return [...(this.#inboxes.get(service)?.values() ?? [])];
  }

  /** Waits until exactly these have arrived, in any order of streams. Returns them in the order of arrival. */
  async untilStored(
    service: string,
    messages: readonly TransportMessage[],
  ): Promise<readonly StoredMessage[]> {
    return this.eventually(async () => {
      const stored = await this.stored(service);
      expect(ids(stored).toSorted()).toEqual(ids(messages).toSorted());
      return stored;
    });
  }

  async eventually<T>(expectation: () => T | Promise<T>): Promise<T> {
    return eventually(expectation, this.#patienceMs);
  }

  /** Gives the broker time to do what it must not do: some messages of others go to and fro meanwhile. */
  async whileOthersTalk(): Promise<void> {
    const billing = await this.listen('billing', { stores: false });
    for (let i = 0; i < 5; i++) {
      const before = billing.deliveries.length;
      await billing.sendAll(message('billing'));
      await billing.untilReceived(before + 1);
      await billing.deliveries[before]?.acknowledge();
    }
    await billing.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member.connection.close()));
    await this.subject[Symbol.asyncDispose]();
  }
}
