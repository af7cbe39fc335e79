// Reads one shard from the floor of the service on, once: until something comes in between. Then the next reader begins at
// the floor again. So all that was not stored comes again in order, whatever the server did with the last reader.
// In: a client, a floor. Out: deliveries in the order of the stream, and why the reading ended. Called by the receiver.
// Its consumer at NATS keeps no acknowledgements and redelivers nothing: the order of redelivery is never the server's.
import { randomBytes } from 'node:crypto';
import type { Delivery } from '../transport.js';
import type { NatsClient } from './client.js';
import { FloorWriter } from './floor-writer.js';
import { readOrRestoreFloor, subscribedBy, type WrittenFloor } from './floors.js';
import { type NatsNames, tokenOf } from './names.js';
import { fromNats } from './nats-wire.js';
import { placeOf } from './place.js';
import type { Room } from './room.js';
import { type Entry, Unstored } from './unstored.js';

type Msg = Parameters<NonNullable<NonNullable<Parameters<NatsClient['nc']['subscribe']>[1]>['callback']>>[1];

interface ReaderOptions {
  readonly client: NatsClient;
  readonly names: NatsNames;
  readonly service: string;
  readonly shard: number;
  /** Of this instance. Others of the service may have subscribed to more, and it delivers that, too. */
  readonly addresses: readonly string[];
  readonly prefetch: number;
  /** Shared with the readers of other shards. */
  readonly room: Room;
  /** Asked before each delivery. */
  readonly mayDeliver: () => boolean;
  /** Above the floor: what earlier readers of this instance have delivered and was acknowledged. It is not delivered again. */
  readonly known: Set<string>;
  readonly deliver: (delivery: Delivery) => void;
}

const ns = 1_000_000; // in a millisecond
const [pullMs, heartbeatMs] = [30_000, 1_500];
const silenceMs = 3.5 * heartbeatMs; // after which the consumer is taken for gone
const forgottenMs = 300_000;

export class ShardReader {
  readonly #options: ReaderOptions;
  readonly #unstored: Unstored;
  /** What the service listens to where this reader is, by the words in the subjects. */
  readonly #addresses = new Map<string, string>();
  readonly #floor: FloorWriter;
  readonly #name: string;
  readonly #inbox: string;
  readonly #ended: Promise<string>;
  #end: (why: string) => void = () => {};
  #stopReading: () => void = () => {};
  /** Read, and not delivered yet for want of room. */
  #waiting: (() => void)[] = [];
  /** Delivered, and neither acknowledged nor given up. */
  unacknowledged = 0;
  #isOver = false;
  #isStopped = false;
  /** Of the messages that were asked for, those that have not come. */
  #requested = 0;
  #lastDelivered = 0;
  #heardAt = performance.now();
  #pullTimer: NodeJS.Immediate | undefined;

  private constructor(options: ReaderOptions, written: WrittenFloor) {
    this.#options = options;
    this.#unstored = new Unstored(written);
    this.#listenTo(written.addresses);
    this.#floor = new FloorWriter({
      ...options,
      written,
      current: () => this.#unstored,
      onError: (error) => this.abandon(error.message),
    });
    this.#inbox = options.client.core.createInbox();
    this.#name = `${tokenOf(options.service).slice(0, 60)}-${options.shard}-${randomBytes(6).toString('hex')}`;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  static async open(options: ReaderOptions): Promise<ShardReader> {
    const reader = new ShardReader(options, await readOrRestoreFloor(options, options.addresses));
    await reader.#begin();
    return reader;
  }

  /** Resolves with the reason when this reader delivers no more and nothing of it is awaited. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** Delivers no more. It ends when all that it has delivered is acknowledged. */
  stop(): void {
    this.#isStopped = true;
    this.#stopReading();
    this.#waiting = [];
    if (this.unacknowledged === 0) this.abandon('stopped');
  }

  /** Writes the floor, and removes the consumer. */
  async close(): Promise<void> {
    this.abandon('closed');
    await this.#floor.close();
    const { client, names } = this.#options;
    await client.jsm.consumers.delete(names.stream, this.#name).catch(() => {});
  }

  async #begin(): Promise<void> {
    const { client, names, shard } = this.#options;
    const { nc, jsm } = client;
    await jsm.consumers.add(names.stream, {
      name: this.#name,
      ack_policy: 'none',
      deliver_policy: 'by_start_sequence',
      opt_start_seq: this.#unstored.floor + 1,
      filter_subject: names.messagesOf(shard),
      inactive_threshold: forgottenMs * ns,
      mem_storage: true,
      num_replicas: 1,
    });
    const subscription = nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error !== null) this.abandon(error.message);
        else this.#take(message);
      },
    });
    const watch = setInterval(() => {
      const isSilent = this.#requested > 0 && performance.now() - this.#heardAt > silenceMs;
      if (isSilent) this.abandon('NATS has fallen silent');
    }, heartbeatMs);
    void nc.closed().then(() => this.abandon('the connection has ended'));
    this.#stopReading = () => {
      clearInterval(watch);
      clearImmediate(this.#pullTimer);
      if (!nc.isClosed()) subscription.unsubscribe();
      this.#stopReading = () => {};
    };
    this.#pull();
  }

  /** Asks for as many as there is room for, when all that was asked for has come. */
  #pull(): void {
    const { client, names, prefetch } = this.#options;
    const room = prefetch - this.#unstored.count;
    if (this.#isOver || this.#isStopped || this.#requested > 0 || room <= 0) return;
    this.#requested = room;
    this.#heardAt = performance.now();
    const request = { batch: room, expires: pullMs * ns, idle_heartbeat: heartbeatMs * ns };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${names.stream}.${this.#name}`;
    try {
      client.nc.publish(subject, JSON.stringify(request), { reply: this.#inbox });
    } catch (error) {
      this.abandon((error as Error).message);
    }
  }

  #pullSoon(): void {
    clearImmediate(this.#pullTimer); // Many acknowledgements come together, and make room for one question.
    this.#pullTimer = setImmediate(() => this.#pull());
  }

  #take(message: Msg): void {
    if (this.#isOver || this.#isStopped) return; // It and what follows come to the next reader: the floor stays below.
    this.#heardAt = performance.now();
    const code = message.headers?.code ?? 0;
    if (code === 0) this.#takeMessage(message);
    else if (code === 100) this.#takeHeartbeat(message);
    else if (code === 408 || code === 404) {
      this.#requested = 0;
      this.#pullSoon();
    } else this.abandon(`NATS answered ${code} ${message.headers?.description ?? ''}`);
  }

  /** It tells the number of the last message that was sent: a lost one shows. */
  #takeHeartbeat({ headers }: Msg): void {
    const last = Number(headers?.get('Nats-Last-Consumer') ?? '');
    if (last > this.#lastDelivered) this.abandon('a message was lost on its way');
  }

  #takeMessage(message: Msg): void {
    const place = placeOf(message);
    if (place === undefined || place.delivered !== this.#lastDelivered + 1) {
      this.abandon('a message was lost on its way');
      return;
    }
    this.#lastDelivered = place.delivered;
    this.#requested--;
    const { service, known } = this.#options;
    const address = this.#addresses.get(message.subject.split('.').at(-2) ?? '');
    const subscribed = subscribedBy(message, service);
    if (subscribed !== undefined) this.#listenTo(subscribed);
    if (address === undefined || subscribed !== undefined || known.has(place.id)) {
      this.#unstored.skip(place.sequence, subscribed);
      this.#floor.moved(false);
    } else {
      const entry = this.#unstored.add(place);
      this.#waiting.push(() => this.#deliver(message, address, entry));
      this.#deliverWaiting();
    }
    if (this.#requested === 0) this.#pullSoon();
  }

  #listenTo(addresses: readonly string[]): void {
    for (const address of addresses) this.#addresses.set(tokenOf(address), address);
  }

  readonly #deliverWaiting = (): void => {
    const { mayDeliver, room } = this.#options;
    while (this.#waiting.length > 0 && room.take(this.#deliverWaiting)) {
      this.unacknowledged++;
      if (mayDeliver()) this.#waiting.shift()?.();
      else this.abandon('another instance may have taken over');
    }
  };

  #deliver(message: Msg, address: string, entry: Entry): void {
    let isSettled = false;
    const settle = (act: () => void) => async () => {
      if (isSettled) return;
      isSettled = true;
      if (!this.#isOver) act();
    };
    this.#options.deliver({
      content: fromNats(message.headers, message.data, address),
      acknowledge: settle(() => this.#stored(entry)),
      reject: settle(() => this.abandon('a message was rejected')),
    });
  }

  #stored(entry: Entry): void {
    const { known, room } = this.#options;
    this.unacknowledged--;
    known.add(entry.id);
    for (const { id } of this.#unstored.stored(entry)) known.delete(id);
    this.#floor.moved(true);
    if (this.#isStopped && this.unacknowledged === 0) this.abandon('stopped');
    else this.#pullSoon();
    room.giveBack(1);
  }

  /** Delivers no more. Later acknowledgements do nothing. */
  abandon(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#stopReading();
    this.#end(why);
    this.#options.room.giveBack(this.unacknowledged);
    this.unacknowledged = 0;
  }
}
