import { setImmediate as turn } from 'node:timers/promises';
import { WorkCoordinator } from '../coordinator/index.js';
import { type Database, openDatabase } from '../database/index.js';
import {
  Dispatcher,
  type DispatcherOptions,
  type OutboxWriter,
  storeAtOnce,
  storeInTime,
  storeInTransaction,
  untilStopped,
} from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import { consoleLogger, type Logger } from '../logger.js';
import { WorkBatchFlags } from '../message.js';
import type { Envelope } from '../messages/index.js';
import { type ResolvedOptions, resolveOptions, whizbangOptions } from '../options.js';
import { type Receptor, type RetryPolicy, resolveRetryPolicy } from '../receptors/index.js';
import {
  CallLine,
  type CallLineOptions,
  createStrategy,
  type WorkCoordinatorStrategy,
} from '../strategies/index.js';
import { postgresTransport, type Transport } from '../transports/index.js';
import {
  answerMsOf,
  localInvoker,
  poolTransaction,
  ReceptorRegistry,
  type RunInTransaction,
  type RunWatched,
  TransactionWatch,
} from '../work/index.js';
import { refuseWrongParts } from './check-options.js';
import { WhizbangEmitter } from './events.js';
import { otherOptions, type WhizbangOptions } from './whizbang-options.js';

/** Everything an instance is made of, before it is started. */
export interface Parts<Tx> {
  readonly settings: ResolvedOptions<typeof whizbangOptions>;
  readonly schema: string;
  readonly logger: Logger;
  readonly events: WhizbangEmitter;
  readonly database: Database;
  readonly coordinator: WorkCoordinator;
  readonly line: CallLine;
  /** What is sent outside a transaction. */
  readonly sending: WorkCoordinatorStrategy;
  readonly storeIn: (messages: Parameters<OutboxWriter['store']>[0], tx: unknown) => Promise<void>;
  readonly dispatching: DispatcherOptions;
  readonly dispatcherFor: (parent: Envelope, outbox: OutboxWriter) => Dispatcher;
  readonly registry: ReceptorRegistry<Tx>;
  readonly transaction: RunWatched<Tx>;
  readonly transport: Transport;
  readonly retryPolicyOf: (receptor: Receptor<Tx> | undefined) => RetryPolicy;
}

export function assemble<Tx>(
  options: WhizbangOptions<Tx>,
  {
    isStopped,
    ...work
  }: Required<Pick<CallLineOptions, 'room' | 'onBatch'>> & {
    readonly isStopped: () => boolean;
  },
): Parts<Tx> {
  refuseWrongParts(options);
  const settings = resolveOptions('createWhizbang', whizbangOptions, { ...options }, otherOptions);
  refuseShortLease(settings);
  const { service, schema = 'public', logger = consoleLogger, receptors = [] } = options;
  const registry = new ReceptorRegistry<Tx>(receptors);
  const defaultRetry = resolveRetryPolicy('createWhizbang', options.retry ?? {});
  const policies = new Map(
    receptors.map((receptor) => [receptor, resolveRetryPolicy(receptor.name, receptor.retry, defaultRetry)]),
  );
  const database = openDatabase(options, settings.concurrency);
  const { pool } = database;
  const transport = options.transport ?? postgresTransport();
  const { sendsDirectly = false } = transport;
  const coordinator = new WorkCoordinator({
    pool: database.forCalls,
    schema,
    sendsDirectly,
    instance: {
      serviceName: service,
      ...(options.instanceId === undefined ? {} : { instanceId: options.instanceId }),
    },
    partitionCount: settings.partitionCount,
    maxPartitionsPerInstance: settings.maxPartitionsPerInstance,
    leaseSeconds: settings.leaseSeconds,
    staleThresholdSeconds: settings.staleThresholdSeconds,
    takeoverSeconds: settings.takeoverSeconds,
    // A third of a lease, as for renewals: one call that is never answered must not cost the leases.
    callTimeoutSeconds: Math.max(shortestCallTimeoutSeconds, settings.leaseSeconds / 3),
  });
  const line = new CallLine({
    coordinator,
    ...work,
    // Reports ride with what is sent next: whoever sends in a loop has half as many calls.
    pause: turn,
    lostLeaseMs: lostCallMs + 3 * settings.leaseSeconds * 1000,
    request: {
      inboxHandlers: registry.handlerNames(),
      maxPerspectiveItems: 0,
      flags: WorkBatchFlags.LookAgain,
    },
  });
  const sending = createStrategy(options.strategy ?? 'immediate', {
    line,
    logger,
    intervalMs: settings.intervalMs,
  });
  const storeIn = storeInTransaction(coordinator, schema, sendsDirectly);
  const store = options.strategy === 'interval' ? storeInTime(sending) : storeAtOnce(sending);
  const outbox: OutboxWriter = {
    store: (messages, tx) =>
      tx === undefined ? untilStopped(service, async () => store(messages, tx)) : storeIn(messages, tx),
  };
  const common = {
    service,
    instanceId: coordinator.instance.instanceId,
    traceContext: options.traceContext,
    defaultAddress: ({ type }: { readonly type: string }) =>
      registry.receptorsFor(type).length > 0 ? service : undefined,
  };
  const dispatcherFor = (parent: Envelope, into: OutboxWriter): Dispatcher =>
    new Dispatcher({ ...common, outbox: into, parent, invoker });
  const { leaseSeconds } = settings;
  const { run: transaction } = new TransactionWatch<Tx>({
    transaction:
      options.transaction ??
      // Without the option Tx is Queryable, its default.
      (poolTransaction({
        pool,
        leaseSeconds,
        answerMs: answerMsOf(leaseSeconds),
      }) as RunInTransaction<unknown> as RunInTransaction<Tx>),
    // Receptors may have taken the whole pool; a call may be waiting for a lock of the very transaction that is asked about.
    pools: [pool, database.forCalls],
    leaseSeconds,
  });
  const invoker = localInvoker<Tx>({ registry, transaction, outbox, dispatcherFor, isStopped });
  return {
    settings,
    schema,
    logger,
    events: new WhizbangEmitter(logger),
    database,
    coordinator,
    line,
    sending,
    storeIn,
    dispatching: { ...common, outbox, invoker },
    dispatcherFor,
    registry,
    transaction,
    transport,
    retryPolicyOf: (receptor) =>
      (receptor === undefined ? undefined : policies.get(receptor)) ?? defaultRetry,
  };
}

/** A call that was given up may still be on its way: the network delivers for minutes. Then it waits for two leases at most. */
const lostCallMs = 300_000;

/** A busy server may take seconds. */
const shortestCallTimeoutSeconds = 5;

/** Two renewals have to fit into a lease, so that one that fails costs nothing. */
function refuseShortLease({ leaseSeconds, renewSeconds }: ResolvedOptions<typeof whizbangOptions>): void {
  if (renewSeconds * 2 <= leaseSeconds) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `createWhizbang: renewSeconds is ${renewSeconds} and leaseSeconds is ${leaseSeconds}.`,
    hint: 'Renew at least twice in a lease: set renewSeconds to a third of leaseSeconds.',
    details: { option: 'renewSeconds', value: renewSeconds },
  });
}
