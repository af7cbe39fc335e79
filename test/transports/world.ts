// Services that talk over the transport on trial. Each instance stores what it is delivered and then acknowledges it, as
// the consumer worker does: one after the other, some time later, an id once.
import { randomUUID } from 'node:crypto';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Delivery, Receiver, SendOutcome, TransportMessage } from '../../src/transports/index.js';
import { eventually } from '../support/eventually.js';
import type { StoredMessage, SubjectInstance, TransportSubject } from './subject.js';

interface Habits {
  /** Default: its service's name. */
  readonly listensTo?: readonly string[];
  readonly prefetch?: number;
  /** Default: true. Otherwise the deliveries are left to the test. */
  readonly stores?: boolean;
}

export class World implements AsyncDisposable {
  readonly #inboxes = new Map<string, Map<string, StoredMessage>>();
  readonly #members: Member[] = [];

  constructor(readonly subject: TransportSubject) {}

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
    const { address: _, ...stored } = message;
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
    return eventually(async () => {
      const stored = await this.stored(service);
      expect(ids(stored).toSorted()).toEqual(ids(messages).toSorted());
      return stored;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member.connection.close()));
    await this.subject[Symbol.asyncDispose]();
  }
}

class Member {
  readonly connection: SubjectInstance['connection'];
  /** All that it was ever handed, in order. */
  readonly deliveries: Delivery[] = [];
  receiver: Receiver | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(
    readonly world: World,
    readonly service: string,
    readonly instance: SubjectInstance,
    /** In turns of the event loop. */
    readonly slowness: number,
  ) {
    this.connection = instance.connection;
  }

  async listen({ listensTo = [this.service], prefetch = 20, stores = true }: Habits = {}): Promise<void> {
    this.receiver = await this.connection.receive({ addresses: listensTo, prefetch }, (delivery) => {
      this.deliveries.push(delivery);
      if (stores) this.#storing = this.#storing.then(() => this.#store(delivery));
    });
  }

  /** Some are slow, so that instances overtake each other where they can. */
  async #store(delivery: Delivery): Promise<void> {
    for (let turns = 0; turns < this.slowness; turns++) await turnOfTheLoop();
    this.world.store(this.service, messageOf(delivery));
    await delivery.acknowledge();
  }

  async send(...messages: readonly TransportMessage[]): Promise<readonly SendOutcome[]> {
    await this.instance.hold?.(messages);
    return this.connection.send(messages, never);
  }

  /** Fails the test unless all of it was sent. */
  async sendAll(...messages: readonly TransportMessage[]): Promise<void> {
    const outcomes = await this.send(...messages);
    expect(outcomes.filter(({ kind }) => kind !== 'sent' && kind !== 'settled')).toEqual([]);
    expect(outcomes).toHaveLength(messages.length);
  }

  /** What it was handed, as ids. */
  get received(): readonly string[] {
    return this.deliveries.map((delivery) => messageOf(delivery).messageId);
  }

  async untilReceived(count: number): Promise<void> {
    await eventually(() => expect(this.deliveries.length).toBeGreaterThanOrEqual(count));
  }
}

/** For calls that nobody interrupts. */
export const never: AbortSignal = new AbortController().signal;

export function messageOf({ content }: Delivery): TransportMessage {
  if ('unreadable' in content) throw new Error(`A message was expected: ${content.unreadable}`);
  return content;
}

export function message(address: string, fields: Partial<TransportMessage> = {}): TransportMessage {
  return {
    messageId: randomUUID(),
    address,
    type: 'OrderPlaced',
    payload: { total: 1 },
    metadata: {},
    scope: null,
    streamId: null,
    ...fields,
  };
}

/** Messages of one stream, numbered. */
export function stream(address: string, count: number, streamId = randomUUID()): TransportMessage[] {
  return Array.from({ length: count }, (_, number) => message(address, { streamId, payload: { number } }));
}

/** Of each stream in turn, as they come when many are busy at the same time. */
export function interleaved(streams: readonly TransportMessage[][]): TransportMessage[] {
  const longest = Math.max(...streams.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => streams.flatMap((each) => each.slice(i, i + 1))).flat();
}

export function ids(messages: readonly { readonly messageId: string }[]): string[] {
  return messages.map(({ messageId }) => messageId);
}

/** Every stream of the arrivals is in the order of the sent ones. */
export function expectOrder(arrived: readonly StoredMessage[], sent: readonly TransportMessage[]): void {
  const streams = new Set(sent.map(({ streamId }) => streamId));
  for (const streamId of streams) {
    const of = (messages: readonly StoredMessage[]) =>
      ids(messages.filter((each) => each.streamId === streamId));
    expect(of(arrived)).toEqual(of(sent));
  }
}
