// One subscription of this instance: it receives each shard of the stream while it has the lease of that shard.
// In: addresses, a prefetch, the link. Out: deliveries. Called by the connection.
// Whatever ends the reading of a shard (a rejection, an outage, a lost lease), it begins again at the floor of the service.
import { setTimeout as wait } from 'node:timers/promises';
import { describeError } from '../../describe-error.js';
import { type ReceiverLease, receiverLease } from '../order/receiver-lease.js';
import type { Delivery, Receiver, Subscription, TransportHost } from '../transport.js';
import type { NatsClient } from './client.js';
import { subscribeService } from './floors.js';
import type { NatsNames } from './names.js';
import { jetStreamFailed } from './nats-errors.js';
import type { NatsLink } from './nats-link.js';
import { Room } from './room.js';
import { ShardReader } from './shard-reader.js';

interface ReceiverOptions {
  readonly host: TransportHost;
  readonly link: NatsLink;
  readonly names: NatsNames;
  readonly leaseSeconds: number;
  /** Makes or checks the stream. Somebody may have deleted it. */
  readonly ensureStream: (client: NatsClient) => Promise<void>;
  readonly subscription: Subscription;
  readonly deliver: (delivery: Delivery) => void;
  /** Told what keeps this one from receiving; undefined: nothing. */
  readonly onTrouble: (error: unknown) => void;
}

const pauseMs = 500;
/** An instance that has shards lets others come first: this long for each, and for two at most. */
const courtesyMs = 250;

export class NatsReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  readonly #readers = new Map<number, ShardReader>();
  /** Takes no more shards and delivers no more. */
  readonly #stopped = new AbortController();
  /** Waits for no acknowledgement any more. */
  readonly #closed = new AbortController();
  readonly #room: Room;
  /** Shards are wanted one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #running: Promise<unknown> = Promise.resolve();
  #isSubscribed = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#room = new Room(options.subscription.prefetch);
  }

  /** Subscribes the service: at once when there is a connection, otherwise as soon as there is one. */
  async start(): Promise<void> {
    const { link, names } = this.#options;
    const client = link.isUp ? link.client : undefined;
    if (client !== undefined) await this.subscribe(client).catch(() => {});
    const shards = Array.from({ length: names.shards }, (_, shard) => this.#keepReceiving(shard));
    this.#running = Promise.all(shards);
  }

  /** Whether this instance receives at least one shard. */
  get isActive(): boolean {
    return this.#readers.size > 0;
  }

  get addresses(): readonly string[] {
    return this.#options.subscription.addresses;
  }

  unacknowledged(shard: number): number {
    return this.#readers.get(shard)?.unacknowledged ?? 0;
  }

  async subscribe(client: NatsClient): Promise<void> {
    if (this.#isSubscribed) return;
    const { host, names } = this.#options;
    const service = host.instance.serviceName;
    const shards = Array.from({ length: names.shards }, (_, shard) => shard);
    await Promise.all(
      shards.map((shard) => subscribeService({ client, names, service, shard }, this.addresses)),
    );
    this.#isSubscribed = true;
  }

  /** The lease stays here until what was delivered is acknowledged. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const reader of this.#readers.values()) reader.stop();
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#closed.abort();
    for (const reader of this.#readers.values()) reader.abandon('closed');
    await this.#running;
  }

  async #keepReceiving(shard: number): Promise<void> {
    const { host, link, names, leaseSeconds, ensureStream, onTrouble } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const client = await link.up(signal);
        await ensureStream(client);
        await this.subscribe(client);
        const leaseName = await this.#leaseName(client, shard);
        await this.#waitForTurn();
        const lease = await receiverLease(host, leaseName, signal, { seconds: leaseSeconds });
        const known = new Set<string>();
        try {
          while (lease.isHeld() && link.isUp && !signal.aborted) await this.#read(shard, lease, known);
        } finally {
          await lease.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        const reason = link.isUp ? jetStreamFailed(link.client, names.stream, error) : error;
        if (link.isUp) onTrouble(reason);
        host.logger.debug(
          { shard, error: describeError(reason) },
          'Receiving from NATS failed; it is tried again',
        );
        await wait(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** With the birthday of the stream: another NATS, or another account, may have one of the same name. */
  async #leaseName({ jsm }: NatsClient, shard: number): Promise<string> {
    const { host, names } = this.#options;
    const { created } = await jsm.streams.info(names.stream);
    return `nats ${names.stream} ${created} ${host.instance.serviceName} ${shard}`;
  }

  /** So that instances that start together share the shards. */
  #waitForTurn(): Promise<void> {
    const turn = this.#turn;
    this.#turn = turn.then(async () => {
      if (this.#options.names.shards === 1) return;
      const { signal } = this.#stopped;
      // Time for the one before to have its lease.
      await wait(50, undefined, { signal }).catch(() => {});
      await wait(courtesyMs * Math.min(this.#readers.size, 2), undefined, { signal }).catch(() => {});
    });
    return turn;
  }

  /** Until it ends. */
  async #read(shard: number, lease: ReceiverLease, known: Set<string>): Promise<void> {
    const { host, link, names, subscription, deliver, onTrouble } = this.#options;
    const reader = await ShardReader.open({
      client: link.client,
      names,
      service: host.instance.serviceName,
      shard,
      addresses: this.addresses,
      prefetch: subscription.prefetch,
      room: this.#room,
      mayDeliver: () => lease.isHeld(),
      known,
      deliver,
    });
    this.#readers.set(shard, reader);
    onTrouble(undefined);
    const onLost = () => reader.abandon('the lease was lost');
    lease.lost.addEventListener('abort', onLost, { once: true });
    try {
      if (this.#closed.signal.aborted || !lease.isHeld()) reader.abandon('closed');
      else if (this.#stopped.signal.aborted) reader.stop();
      const why = await reader.ended;
      host.logger.debug({ shard, fence: lease.fence, why }, 'The reading of a shard of NATS has ended');
    } finally {
      lease.lost.removeEventListener('abort', onLost);
      this.#readers.delete(shard);
      await reader.close();
    }
  }
}
