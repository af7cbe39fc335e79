// A started instance: both workers on one loop, the transport's connection, the LISTEN connection.
// In: the parts that the composition root has made. Out: something that runs until it is stopped.
// Called by Whizbang.start and Whizbang.stop. The order of stopping is the point: stop receiving, finish or give back
// what runs, say so to the database, release the leases, close.

import { joinService, type WorkCoordinator } from '../coordinator/index.js';
import { type ConnectionPool, type ListenClient, withPooledClient } from '../database/index.js';
import { beforeDeadline } from '../deadline.js';
import { describeError } from '../describe-error.js';
import type { Dispatcher, OutboxWriter } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { MessageFailure, NewOutboxMessage, WorkBatch, WorkItem } from '../message.js';
import type { Envelope } from '../messages/index.js';
import type { Receptor, RetryPolicy } from '../receptors/index.js';
import type { RoomNow, WorkCoordinatorStrategy, WorkUnit } from '../strategies/index.js';
import type { Receiver, TransportConnection } from '../transports/index.js';
import {
  answerMsOf,
  Capacity,
  ConsumerWorker,
  DeliveryIntake,
  failureReport,
  LeaseClock,
  Listener,
  PublisherWorker,
  ReceptorError,
  ReceptorRecords,
  type ReceptorRegistry,
  ReceptorRunner,
  type RunWatched,
  WorkLoop,
} from '../work/index.js';
import type { WhizbangEmitter } from './events.js';
import { flushAndDeregister } from './flush-and-deregister.js';

export interface WorkersOptions<Tx> {
  readonly service: string;
  readonly coordinator: WorkCoordinator;
  readonly pool: ConnectionPool;
  /** Quoted. */
  readonly schema: string;
  /** Its queue holds the reports; only the loop flushes it. */
  readonly reports: WorkCoordinatorStrategy;
  /** What is sent outside a transaction: receptors may use it until the last has ended. */
  readonly sending: WorkCoordinatorStrategy;
  readonly connection: TransportConnection;
  readonly connectToListen: (() => Promise<ListenClient>) | undefined;
  readonly registry: ReceptorRegistry<Tx>;
  readonly transaction: RunWatched<Tx>;
  readonly dispatcherFor: (parent: Envelope, outbox: OutboxWriter) => Dispatcher;
  /** Stores what is sent in a transaction, as a plain insert would. */
  readonly storeIn: (messages: readonly NewOutboxMessage[], tx: unknown) => Promise<void>;
  /** Of a receptor; undefined: for sending to the transport. */
  readonly retryPolicyOf: (receptor: Receptor<Tx> | undefined) => RetryPolicy;
  readonly events: WhizbangEmitter;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly groupSize: number;
  readonly prefetch: number;
  readonly publishBatchSize: number;
  readonly leaseSeconds: number;
  readonly renewSeconds: number;
  readonly pollIntervalMs: number;
}

/** One whose instance died once is not given up for it, however few attempts it has. */
const fewestInterruptions = 3;
/** Held however slowly it is handled, where `prefetch` allows. */
const usualPrefetch = 100;
/** To join a service: it waits for others who join at this moment, and for nobody else. */
const joinMs = 10_000;
const noRoom = { outbox: 0, inbox: 0, spareOutbox: 0, spareInbox: 0 };
/** When the time to stop is over: for the receiver, and for those that were aborted, to end by themselves. */
const abortedMs = 1_000;
/** And then for all that is left to say and to close, together. */
const lastWordsMs = 2_000;

export class Workers<Tx> {
  readonly #options: WorkersOptions<Tx>;
  readonly #loop: WorkLoop;
  readonly #publisher: PublisherWorker;
  readonly #consumer: ConsumerWorker<Tx>;
  readonly #intake: DeliveryIntake;
  readonly #listener: Listener | undefined;
  #receiver: Receiver | undefined;
  #takesWork = false;

  constructor(options: WorkersOptions<Tx>) {
    this.#options = options;
    const { logger, registry, reports, events, connection, prefetch } = options;
    const leases = () =>
      new LeaseClock({
        leaseSeconds: options.leaseSeconds,
        marginSeconds: Math.min(2, options.leaseSeconds / 5),
      });
    const report = (unit: WorkUnit) => this.#report(unit);
    this.#publisher = new PublisherWorker({
      connection,
      leases: leases(),
      report,
      logger,
      capacity: Math.max(Math.min(prefetch, usualPrefetch), options.publishBatchSize) * 2,
      batchSize: options.publishBatchSize,
      failureOf: (item, error, isFinal) => this.#failureOf(item, error, isFinal),
      onRoom: () => this.#loop.wake(['outbox']),
      onReachable: (isReachable) => events.reachable('transport', isReachable),
    });
    const runner = new ReceptorRunner<Tx>({
      ...options,
      records: new ReceptorRecords(options.pool, options.schema, answerMsOf(options.leaseSeconds)),
      maxInterruptions: (receptor) => Math.max(fewestInterruptions, options.retryPolicyOf(receptor).attempts),
      queue: (unit) => this.#queue(unit),
    });
    this.#consumer = new ConsumerWorker<Tx>({
      runner,
      leases: leases(),
      report,
      concurrency: options.concurrency,
      groupSize: options.groupSize,
      capacity: registry.isEmpty
        ? new Capacity(0, 0)
        : new Capacity(Math.max(usualPrefetch, options.concurrency), Math.max(prefetch, options.concurrency)),
      failureOf: (item, error) => this.#failureOf(item, error, false),
      onRoom: () => this.#loop.wake(['inbox']),
      onLeaseLost: (messageId) => events.emit('leaseLost', [{ source: 'inbox', messageId }]),
      onError: (error) => {
        const isHandedOutAgain = error instanceof WhizbangError && error.code === 'LEASE_LOST';
        const text = isHandedOutAgain
          ? 'A message was handed out again while it was still here'
          : 'A report failed';
        logger[isHandedOutAgain ? 'info' : 'error']({ error: describeError(error) }, text);
      },
    });
    this.#intake = new DeliveryIntake({
      queue: (unit) => this.#queue(unit),
      hasReceptor: (type) => registry.receptorsFor(type).length > 0,
      logger,
    });
    this.#listener =
      options.connectToListen === undefined
        ? undefined
        : new Listener({
            connect: options.connectToListen,
            schema: options.schema,
            onWake: () => this.#loop.notified(),
            onHint: () => this.#loop.hinted(),
            logger,
          });
    this.#loop = new WorkLoop({
      strategy: reports,
      lanes: [this.#publisher, this.#consumer],
      listener: this.#listener,
      pollIntervalMs: options.pollIntervalMs,
      renewSeconds: options.renewSeconds,
      logger,
      onReachable: (isReachable) => events.reachable('database', isReachable),
      onLeaseLost: (source, ids) => {
        events.emit(
          'leaseLost',
          ids.map((messageId) => ({ source, messageId })),
        );
      },
      onIdle: (isIdle) => events.emit(isIdle ? 'idle' : 'active'),
    });
  }

  /** For the line: how much this instance can take now, and where it goes. */
  room(): RoomNow {
    // Calls of senders hand out work too; before it has subscribed, what it sends to itself would find nobody.
    if (!this.#takesWork) return noRoom;
    return { ...this.#loop.room(), continuesAbove: this.#consumer.continuesAbove() };
  }

  take(batch: WorkBatch, sentAt: number): void {
    this.#loop.take(batch, sentAt);
  }

  /** Fails when the database refuses the first call, so that a wrong set-up is seen at once. */
  async start(): Promise<void> {
    const { reports, coordinator, connection, registry, service, prefetch, events } = this.#options;
    const { pool, schema } = this.#options;
    const { instance } = coordinator;
    // Registered before it subscribes: the subscriptions of an instance that nobody knows are swept away.
    await coordinator.processWorkBatch({ maxOutboxItems: 0, maxInboxItems: 0, maxPerspectiveItems: 0 });
    await withPooledClient(pool, (db) => joinService(db, schema, instance.instanceId), joinMs);
    // Before anything is handed out: what waits in the outbox for this very service would find nobody.
    if (!registry.isEmpty) {
      const subscription = { addresses: registry.addresses(service), prefetch };
      this.#receiver = await connection.receive(subscription, (delivery) => this.#intake.take(delivery));
    }
    this.#takesWork = true;
    await reports.flush();
    events.ready(true);
    this.#loop.start();
    await this.#listener?.open();
  }

  async stop(seconds: number): Promise<void> {
    const { connection, coordinator, logger } = this.#options;
    const deadline = performance.now() + seconds * 1000;
    // A network that has fallen silent answers nothing, and says nothing.
    const before = (end: number, work: Promise<unknown> | undefined) =>
      beforeDeadline(
        (work ?? Promise.resolve()).catch(() => {}),
        end,
      );
    const orSoon = (ms: number) => Math.max(deadline, performance.now() + ms);
    await before(orSoon(abortedMs), this.#receiver?.stop());
    this.#publisher.stopTaking();
    this.#consumer.stopTaking();
    const finished = Promise.all([
      this.#publisher.whenIdle(),
      this.#consumer.whenIdle(),
      this.#intake.whenIdle(),
    ]);
    const isFinished = await beforeDeadline(finished, deadline);
    if (!isFinished) {
      logger.warn({ seconds }, 'Not everything was finished in time; what still runs is given back');
      this.#publisher.abandon();
      this.#consumer.abandon();
      this.#intake.abandon();
      await beforeDeadline(finished, performance.now() + abortedMs);
    }
    // One time for all of it, but a full one: a receptor that computes may have kept the event loop until now.
    const end = orSoon(lastWordsMs);
    await before(end, this.#listener?.close());
    if (!(await before(end, this.#reportAndDeregister()))) {
      logger.warn({}, 'PostgreSQL did not take the last reports; the leases run out instead');
    }
    await before(end, connection.close());
    // What was still on its way when it said goodbye may have registered it again.
    if (!isFinished) await before(end, coordinator.deregister());
  }

  async #reportAndDeregister(): Promise<void> {
    const { reports, logger } = this.#options;
    await this.#loop.stop();
    await reports.dispose().catch((error: unknown) => {
      logger.warn(
        { error: describeError(error) },
        'The last reports could not be made; their leases run out instead',
      );
    });
    await flushAndDeregister(this.#options);
  }

  #queue(unit: WorkUnit) {
    const queued = this.#options.reports.queue(unit);
    this.#loop.report();
    return queued;
  }

  #report(unit: WorkUnit): void {
    try {
      this.#queue(unit);
    } catch (error) {
      // After the last words there is nothing to say: what we held was freed, or its leases run out.
      if (!(error instanceof WhizbangError && error.code === 'DISPOSED')) throw error;
    }
  }

  #failureOf(item: WorkItem, cause: unknown, isFinal: boolean): MessageFailure {
    const { events, retryPolicyOf } = this.#options;
    const {
      cause: error,
      receptor,
      isFinal: isHopeless,
    } = cause instanceof ReceptorError
      ? (cause as ReceptorError<Tx>)
      : { cause, receptor: undefined, isFinal: false };
    const failure = failureReport(item, error, retryPolicyOf(receptor), isFinal || isHopeless);
    const event = {
      source: item.source as 'outbox' | 'inbox',
      messageId: item.messageId,
      type: item.eventType,
      attempt: item.attempts + 1,
      error,
    };
    if (failure.retryAfterSeconds === undefined) events.emit('deadLetter', event);
    else {
      events.emit('failure', { ...event, retryAfterSeconds: failure.retryAfterSeconds });
      this.#loop.wakeIn(failure.retryAfterSeconds);
    }
    return failure;
  }
}
