// The parts of a started instance: both workers on one loop, the
// intake of deliveries, the listener. Nothing of it runs yet.
// In: what `assemble` has made, and the transport's connection. Out: the parts that Workers starts and stops.
import type { WorkCoordinator } from '../coordinator/index.js';
import type { ConnectionPool, ListenClient } from '../database/index.js';
import { describeError } from '../describe-error.js';
import type { Origin, OutboxWriter } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { EventStore, SubjectKeys, TickAudit } from '../events/index.js';
import type { Logger } from '../logger.js';
import type { ResolvedOptions, whizbangOptions } from '../options.js';
import {
  BatchRunner,
  type InlinePerspectives,
  type PerspectiveRegistry,
  PerspectiveWorker,
  switchOver,
} from '../perspectives/index.js';
import type { WorkCoordinatorStrategy } from '../strategies/index.js';
import type { TransportConnection } from '../transports/index.js';
import {
  answerMsOf,
  Capacity,
  ConsumerWorker,
  DeliveryIntake,
  FailureDecisions,
  LeaseClock,
  Listener,
  PublisherWorker,
  ReceptorRecords,
  type ReceptorRegistry,
  ReceptorRunner,
  type RetryPolicies,
  type RunWatched,
  type WorkGate,
  WorkLoop,
} from '../work/index.js';
import type { WhizbangEmitter } from './events.js';

export interface WorkersOptions<Tx> {
  readonly service: string;
  readonly settings: ResolvedOptions<typeof whizbangOptions>;
  readonly coordinator: WorkCoordinator;
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  /** How many receptors may run at once. */
  readonly concurrency: number;
  readonly connectToListen: (() => Promise<ListenClient>) | undefined;
  /** The gate, which is opened when the instance starts to take work. */
  readonly gate: WorkGate;
  /** The strategy whose queue holds the reports. Only the loop flushes it. */
  readonly reports: WorkCoordinatorStrategy;
  /** The strategy for what is sent outside a transaction. Receptors may use it until the last has ended. */
  readonly sending: WorkCoordinatorStrategy;
  /** The writer for what is sent in a transaction. */
  readonly inTransaction: OutboxWriter;
  readonly eventStore: EventStore;
  /** The sender of what receptors send. */
  readonly origin: Origin;
  readonly registry: ReceptorRegistry<Tx>;
  readonly policies: RetryPolicies<Tx>;
  readonly perspectives: PerspectiveRegistry<Tx>;
  readonly inline: InlinePerspectives;
  readonly audit: TickAudit;
  readonly keys: SubjectKeys;
  readonly transaction: RunWatched<Tx>;
  readonly events: WhizbangEmitter;
  readonly logger: Logger;
}

export interface WorkParts<Tx> {
  readonly loop: WorkLoop;
  readonly publisher: PublisherWorker;
  readonly consumer: ConsumerWorker<Tx>;
  readonly intake: DeliveryIntake;
  readonly perspectives: PerspectiveWorker<Tx>;
  /** Undefined when the instance does not listen. */
  readonly listener: Listener | undefined;
}

/** How many messages are held however slowly they are handled, where `prefetch` allows. */
const usualPrefetch = 100;
/** How many bookmarks of perspectives are worked on at once. */
const perspectivesAtOnce = 4;

export function assembleWork<Tx>(
  options: WorkersOptions<Tx>,
  connection: TransportConnection,
): WorkParts<Tx> {
  const { events, logger, registry, settings } = options;
  const failures = new FailureDecisions<Tx>({
    policies: options.policies,
    onRetry: (attempt) => events.emit('failure', attempt),
    onGivenUp: (attempt) => events.emit('deadLetter', attempt),
    onWait: (seconds) => loop.wakeIn(seconds),
  });
  const publisher = new PublisherWorker({
    connection,
    leases: leaseClock(settings.leaseSeconds),
    capacity: Math.max(Math.min(settings.prefetch, usualPrefetch), settings.publishBatchSize) * 2,
    batchSize: settings.publishBatchSize,
    failureOf: (item, error, isFinal) => failures.decide(item, error, isFinal),
    report: (unit) => loop.tell(unit),
    onRoom: () => loop.wake(['outbox']),
    onReachable: (isReachable) => events.reachable('transport', isReachable),
    logger,
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
    queue: (unit) => loop.queue(unit),
    logger,
  });
  const consumer = new ConsumerWorker<Tx>({
    runner,
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
    onLeaseLost: (messageId) => tellLost(events, 'inbox', [messageId]),
    onError: (error) => logError(logger, error),
  });
  const intake = new DeliveryIntake({
    queue: (unit) => loop.queue(unit),
    hasReceptor: (type) => registry.receptorsFor(type).length > 0,
    logger,
  });
  const access = { pool: options.pool, schema: options.schema, answerMs: settings.leaseSeconds * 1000 };
  const perspectives = new PerspectiveWorker<Tx>({
    registry: options.perspectives,
    instanceId: options.coordinator.instance.instanceId,
    concurrency: perspectivesAtOnce,
    runner: new BatchRunner<Tx>({
      ...access,
      leaseSeconds: settings.leaseSeconds,
      transaction: options.transaction,
      switchOver: (name) =>
        switchOver({ ...access, logger, onLater: (seconds) => loop.wakeIn(seconds) }, name),
      origin: options.origin,
      keys: options.keys,
      onHeld: (perspective, failed) => {
        for (const { row, error } of failed) {
          const facts = { perspective, streamId: row.stream_id, version: row.version, type: row.event_type };
          logger.error(
            { ...facts, error: error.message },
            'An event could not be applied; its stream is held',
          );
        }
        loop.wakeIn(1);
      },
    }),
    onRoom: () => loop.wake(),
    audit: options.audit,
    logger,
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
    onLeaseLost: (source, ids) => tellLost(events, source, ids),
    onIdle: (isIdle) => events.emit(isIdle ? 'idle' : 'active'),
  });
  return { loop, publisher, consumer, intake, perspectives, listener };
}

const leaseClock = (leaseSeconds: number) =>
  new LeaseClock({ leaseSeconds, marginSeconds: Math.min(2, leaseSeconds / 5) });

function tellLost(events: WhizbangEmitter, source: 'outbox' | 'inbox', ids: readonly string[]): void {
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
