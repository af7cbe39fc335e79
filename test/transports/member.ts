// One instance of a service on trial. It stores what it is delivered and then acknowledges it, as the consumer worker
// does: one after the other, some time later.
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Delivery, Receiver, SendOutcome, TransportMessage } from '../../src/transports/index.js';
import { messageOf } from './messages.js';
import type { SubjectInstance } from './subject.js';
import type { World } from './world.js';

export interface Habits {
  /** Default: its service's name. */
  readonly listensTo?: readonly string[];
  readonly prefetch?: number;
  /** Default: true. Otherwise the deliveries are left to the test. */
  readonly stores?: boolean;
}

export class Member {
  readonly connection: SubjectInstance['connection'];
  /** All that it was ever handed, in order. */
  readonly deliveries: Delivery[] = [];
  /** The most that it had at one time without having acknowledged it, if it stores. */
  mostUnacknowledged = 0;
  receiver: Receiver | undefined;
  #storing: Promise<void> = Promise.resolve();
  #acknowledged = 0;
  #hasCrashed = false;

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
      if (stores) this.#storing = this.#storing.then(() => this.store(delivery));
      this.mostUnacknowledged = Math.max(
        this.mostUnacknowledged,
        this.deliveries.length - this.#acknowledged,
      );
    });
  }

  /** Stores a delivery and acknowledges it. Some are slow, so that instances overtake each other where they can. */
  async store(delivery: Delivery | undefined): Promise<void> {
    for (let turns = 0; turns < this.slowness; turns++) await turnOfTheLoop();
    if (this.#hasCrashed || delivery === undefined) return;
    this.world.store(this.service, messageOf(delivery));
    this.#acknowledged++;
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

  /** Its process dies. Nothing that it was handed is stored any more. */
  async crash(): Promise<void> {
    this.#hasCrashed = true;
    await this.instance.crash?.();
  }

  /** What it was handed, as ids. */
  get received(): readonly string[] {
    return this.deliveries.map((delivery) => messageOf(delivery).messageId);
  }

  async untilReceived(count: number): Promise<void> {
    await this.world.eventually(() => expect(this.deliveries.length).toBeGreaterThanOrEqual(count));
  }
}

/** For calls that nobody interrupts. */
export const never: AbortSignal = new AbortController().signal;
