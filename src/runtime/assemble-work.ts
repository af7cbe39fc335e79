import { answerType } from '../coordinator/index.js';
import { describeError } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { NewInboxMessage, WorkItem } from '../message.js';
import type { PerspectiveWorker } from '../perspectives/index.js';
import { ScheduleKeeper } from '../schedules/index.js';
import { DatabaseGauges } from '../telemetry/index.js';
import { Timekeeper } from '../timers/index.js';
import type { TransportConnection } from '../transports/index.js';
import {
  answerMsOf,
  Capacity,
  ConsumerWorker,
  DeliveryIntake,
  FailureDecisions,
  LeaseClock,
  LimitStore,
  Limits,
  Listener,
  PublisherWorker,
  ReceptorRecords,
  ReceptorRunner,
  refusalOf,
  WorkLoop,
} from '../work/index.js';
import { assemblePerspectives } from './assemble-perspectives.js';
import { machine } from './instance-facts.js';
import { LocalInstances } from './local-instances.js';
import { handledNotice, publishedNotice } from './notices.js';
import { OrderWatch } from './order-watch.js';
import type { WorkersOptions } from './workers-options.js';

export interface WorkParts<Tx> {
  readonly loop: WorkLoop;
  readonly publisher: PublisherWorker;
  readonly consumer: ConsumerWorker<Tx>;
  readonly intake: DeliveryIntake;
  readonly perspectives: PerspectiveWorker<Tx>;
  /** What runs beside the loop, at times of the clock. */
  readonly clockwork: readonly (Timekeeper | ScheduleKeeper | LocalInstances | OrderWatch | DatabaseGauges)[];
  /** Undefined when the instance does not listen. */
  readonly listener: Listener | undefined;
}

/** How many messages are held however slowly they are handled, where `prefetch` allows. */
const usualPrefetch = 100;

export function assembleWork<Tx>(
  options: WorkersOptions<Tx>,
  connection: TransportConnection,
): WorkParts<Tx> {
  const { events, facts, logger, registry, settings, requests, telemetry } = options;
  const tooNew = new Set<string>();
  const failures = new FailureDecisions<Tx>({
    policies: options.policies,
    onRetry: (attempt) => {
      facts.failed += 1;
      telemetry.failed('retries', attempt);
      events.emit('failure', attempt);
    },
    onGivenUp: (attempt) => {
      facts.failed += 1;
      telemetry.failed('givenUp', attempt);
      events.emit('deadLetter', attempt);
    },
    onWait: (seconds) => loop.wakeIn(seconds),
    refusalOf: (item, error) => refusalOf(item, error, options.origin),
    onTooNew: (item, error) => {
      if (tooNew.has(item.eventType)) return;
      tooNew.add(item.eventType);
      logger.warn(
        { type: item.eventType, error: error.message },
        'Messages of a newer version wait for newer code',
      );
    },
  });
  // A command that could not be delivered: whoever waits for its answer is in this schema.
  const tellAsker = (item: WorkItem, error: unknown) => {
    const { destination, ...answer } = refusalOf(item, error, options.origin) ?? { destination: undefined };
    if (destination !== undefined)
      loop.tell({ newInboxMessages: [{ ...(answer as NewInboxMessage), handlerName: answerType }] });
  };
  const publisher = new PublisherWorker({
    connection,
    leases: leaseClock(settings.leaseSeconds),
    capacity: Math.max(Math.min(settings.prefetch, usualPrefetch), settings.publishBatchSize) * 2,
    batchSize: settings.publishBatchSize,
    failureOf: (item, error, isFinal) => {
      const failure = failures.decide(item, error, isFinal);
      if (failure.deadLetter === true) tellAsker(item, error);
      return failure;
    },
    waitOf: (item, error, seconds) => failures.wait(item, error, seconds),
    telemetry,
    report: (unit) => loop.tell(unit),
    onRoom: () => loop.wake(['outbox']),
    service: options.service,
    onReachable: (error) => options.transportState.sends(error),
    onPublished: (item, durationMs) => {
      facts.published += 1;
      if (events.isHeard('published')) events.emit('published', publishedNotice(item, durationMs));
    },
  });
  const runner = new ReceptorRunner<Tx>({
    registry,
    coordinator: options.coordinator,
    records: new ReceptorRecords(options.pool, options.schema, answerMsOf(settings.leaseSeconds)),
    policies: options.policies,
    transaction: options.transaction,
    origin: options.origin,
    outbox: options.inTransaction,
    events: options.eventStore,
    inline: options.inline,
    telemetry,
    queue: (unit) => loop.queue(unit),
    onGivenUp: (attempt) => {
      telemetry.failed('givenUp', attempt);
      events.emit('deadLetter', attempt);
    },
    onHandled: (task) => {
      facts.handled += 1;
      if (events.isHeard('handled')) events.emit('handled', handledNotice(task));
    },
    logger,
  });
  const limits = new Limits<Tx>({
    registry,
    store: new LimitStore({
      pool: options.pool,
      schema: options.schema,
      instanceId: options.coordinator.instance.instanceId,
      answerMs: answerMsOf(settings.leaseSeconds),
    }),
    hands: options.concurrency,
    open: async (item) => options.eventStore.opened(item),
    wake: () => loop.wake(['inbox']),
    logger,
  });
  const consumer = new ConsumerWorker<Tx>({
    runner,
    limits,
    leases: leaseClock(settings.leaseSeconds),
    concurrency: options.concurrency,
    groupSize: settings.groupSize,
    capacity: registry.isEmpty
      ? new Capacity(0, 0)
      : new Capacity(
          Math.max(usualPrefetch, options.concurrency),
          Math.max(settings.prefetch, options.concurrency),
        ),
    failureOf: (item, error) => failures.report(item, error),
    report: (unit) => loop.tell(unit),
    onRoom: () => loop.wake(['inbox']),
    onLeaseLost: (messageId) => tellLost(options, 'inbox', [messageId]),
    onError: (error) => logError(logger, error),
  });
  const intake = new DeliveryIntake({
    queue: (unit) => loop.queue(unit),
    // An instance without receptors receives for others: none of what arrives is a surprise.
    hasReceptor: (type) => registry.isEmpty || type === answerType || registry.receptorsFor(type).length > 0,
    onLate: () => order.wake(),
    logger,
  });
  const perspectives = assemblePerspectives(options, {
    wake: () => loop.wake(),
    wakeIn: (seconds) => loop.wakeIn(seconds),
  });
  const { connectToListen } = options;
  const listener =
    connectToListen === undefined
      ? undefined
      : new Listener({
          connect: connectToListen,
          schema: options.schema,
          onWake: () => loop.notified(),
          onHint: () => loop.hinted(),
          onTimer: (due) => timekeeper.hear(due),
          onAnswer: (requestId) => requests.hear(requestId),
          logger,
        });
  const loop: WorkLoop = new WorkLoop({
    strategy: options.reports,
    lanes: [publisher, consumer],
    perspectives: options.perspectives.isEmpty ? undefined : perspectives,
    listener,
    pollIntervalMs: settings.pollIntervalMs,
    renewSeconds: settings.renewSeconds,
    logger,
    onReachable: (isReachable) => events.reachable('database', isReachable),
    onLeaseLost: (source, ids) => tellLost(options, source, ids),
    onIdle: (isIdle) => events.emit(isIdle ? 'idle' : 'active'),
  });
  const isListening = () => listener?.isListening === true;
  const timekeeper = new Timekeeper({
    pool: options.pool,
    schema: options.schema,
    pollIntervalMs: settings.pollIntervalMs,
    isListening,
    // Otherwise the insert notifies whoever sleeps.
    onFired: () => isListening() || loop.wake(),
    logger,
  });
  const { schedules, pool, schema, origin, sendsDirectly } = options;
  const { instanceId } = options.coordinator.instance;
  const keepers =
    schedules === undefined
      ? []
      : [new ScheduleKeeper({ schedules, pool, schema, instanceId, origin, sendsDirectly, logger })];
  const watch =
    machine === undefined
      ? []
      : [new LocalInstances({ pool, schema, instanceId, machine, onEnded: () => loop.wake(), logger })];
  const order = new OrderWatch({ pool, schema, instanceId, facts, telemetry, logger });
  const gauges = new DatabaseGauges({ pool, schema, service: options.service, instanceId, telemetry });
  const clockwork = [timekeeper, ...keepers, ...watch, order, gauges];
  return { loop, publisher, consumer, intake, perspectives, clockwork, listener };
}

const leaseClock = (leaseSeconds: number) =>
  new LeaseClock({ leaseSeconds, marginSeconds: Math.min(2, leaseSeconds / 5) });

function tellLost(
  { events, telemetry }: Pick<WorkersOptions<never>, 'events' | 'telemetry'>,
  source: 'outbox' | 'inbox',
  ids: readonly string[],
): void {
  telemetry.lostLeases(source, ids.length);
  events.emit(
    'leaseLost',
    ids.map((messageId) => ({ source, messageId })),
  );
}

function logError(logger: Logger, error: unknown): void {
  const isHandedOutAgain = error instanceof WhizbangError && error.code === 'LEASE_LOST';
  const text = isHandedOutAgain
    ? 'A message was handed out again while this instance still had it'
    : 'A report failed';
  logger[isHandedOutAgain ? 'info' : 'error']({ error: describeError(error) }, text);
}
