// Options become the parts of an instance that has not started: it can send and invoke.
// In: the options of createWhizbang. Out: its parts, each made with the parts that are named here.
// Called by the composition root.
import { setImmediate as turn } from 'node:timers/promises';
import { type WorkBatchRequest, WorkCoordinator } from '../coordinator/index.js';
import { type Database, openDatabase, quoteSchema } from '../database/index.js';
import { InstanceOutbox, type Origin, type OutboxWriter, TransactionOutbox } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import {
  EventStore,
  Retention,
  retentionRules,
  StoreAccess,
  SubjectKeys,
  TickAudit,
} from '../events/index.js';
import { consoleLogger, type Logger } from '../logger.js';
import { WorkBatchFlags } from '../message.js';
import { type ResolvedOptions, resolveOptions, whizbangOptions } from '../options.js';
import {
  InlinePerspectives,
  ModelAccess,
  type ModelsOf,
  modelsIn,
  PerspectiveBuilds,
  PerspectiveRegistry,
} from '../perspectives/index.js';
import { CallLine, createStrategy, type WorkCoordinatorStrategy } from '../strategies/index.js';
import { postgresTransport, type Transport } from '../transports/index.js';
import {
  answerMsOf,
  LocalInvoker,
  poolTransaction,
  ReceptorRegistry,
  RetryPolicies,
  type RunInTransaction,
  type RunWatched,
  TransactionWatch,
  WorkGate,
} from '../work/index.js';
import { refuseWrongParts } from './check-options.js';
import { WhizbangEmitter } from './events.js';
import { otherOptions, type WhizbangOptions } from './whizbang-options.js';

type Settings = ResolvedOptions<typeof whizbangOptions>;

/** Everything an instance is made of, before it is started. */
export interface Parts<Tx> {
  readonly settings: Settings;
  readonly schema: string;
  readonly logger: Logger;
  readonly events: WhizbangEmitter;
  readonly database: Database;
  readonly coordinator: WorkCoordinator;
  readonly transport: Transport;
  readonly line: CallLine;
  /** Receives the work of all calls. */
  readonly gate: WorkGate;
  /** The strategy for what is sent outside a transaction. */
  readonly sending: WorkCoordinatorStrategy;
  /** The writer for what is sent in a transaction. */
  readonly inTransaction: OutboxWriter;
  /** The writer for both. */
  readonly outbox: OutboxWriter;
  readonly eventStore: EventStore;
  readonly access: StoreAccess;
  readonly retention: Retention;
  /** The sender of the messages. */
  readonly origin: Origin;
  readonly invoker: LocalInvoker<Tx>;
  readonly registry: ReceptorRegistry<Tx>;
  readonly policies: RetryPolicies<Tx>;
  readonly perspectives: PerspectiveRegistry<Tx>;
  readonly inline: InlinePerspectives;
  readonly audit: TickAudit;
  readonly keys: SubjectKeys;
  readonly models: ModelsOf;
  readonly builds: PerspectiveBuilds<Tx>;
  readonly transaction: RunWatched<Tx>;
}

export function assemble<Tx>(options: WhizbangOptions<Tx>): Parts<Tx> {
  refuseWrongParts(options);
  const settings = resolveOptions('createWhizbang', whizbangOptions, { ...options }, otherOptions);
  refuseShortLease(settings);
  const rules = retentionRules(options.retention);
  const { service, schema = 'public', logger = consoleLogger, receptors = [] } = options;
  const registry = new ReceptorRegistry<Tx>(receptors);
  const policies = new RetryPolicies<Tx>('createWhizbang', receptors, options.retry ?? {});
  const database = openDatabase(options, settings.concurrency);
  const transport = options.transport ?? postgresTransport();
  const { sendsDirectly = false } = transport;
  const coordinator = coordinatorOf(options, settings, database, sendsDirectly);
  const gate = new WorkGate();
  const perspectives = new PerspectiveRegistry<Tx>(options.perspectives ?? []);
  const line = lineOf(coordinator, gate, settings.leaseSeconds, {
    inboxHandlers: registry.handlerNames(),
    ...(perspectives.isEmpty ? {} : { perspectives: perspectives.codes }),
  });
  const { intervalMs } = settings;
  const sending = createStrategy(options.strategy ?? 'immediate', { line, logger, intervalMs });
  const inTransaction = new TransactionOutbox(coordinator, schema, sendsDirectly);
  const isTimed = options.strategy === 'interval';
  const outbox = new InstanceOutbox({ service, strategy: sending, isTimed, inTransaction });
  const transaction = transactionsOf(options, database, settings.leaseSeconds);
  const access = new StoreAccess({ pool: database.pool, schema: quoteSchema(schema) });
  const keys = new SubjectKeys(access);
  const sender = {
    service,
    instanceId: coordinator.instance.instanceId,
    traceContext: options.traceContext,
    sealer: keys,
  };
  const inline = new InlinePerspectives({
    perspectives: perspectives.all,
    pool: database.pool,
    schema: quoteSchema(schema),
    keys,
    logger,
  });
  const audit = new TickAudit(access, logger);
  const eventStore = new EventStore({
    access,
    keys,
    audit,
    sender,
    logger,
    inline,
  });
  const modelAccess = new ModelAccess({ pool: database.pool, schema: quoteSchema(schema), keys });
  const invoker = new LocalInvoker<Tx>({
    registry,
    transaction,
    outbox,
    events: eventStore,
    origin: {
      ...sender,
      defaultAddress: ({ type }) => (registry.receptorsFor(type).length > 0 ? service : undefined),
    },
  });
  return {
    settings,
    schema,
    logger,
    events: new WhizbangEmitter(logger),
    database,
    coordinator,
    transport,
    line,
    gate,
    sending,
    inTransaction,
    outbox,
    eventStore,
    access,
    retention: new Retention(access, rules, logger),
    origin: invoker.origin,
    invoker,
    registry,
    policies,
    perspectives,
    inline,
    audit,
    keys,
    models: modelsIn(modelAccess),
    builds: new PerspectiveBuilds<Tx>({
      access: modelAccess,
      who: service,
      keys,
      pool: database.pool,
      schema: quoteSchema(schema),
      transaction,
      origin: invoker.origin,
    }),
    transaction,
  };
}

/**
 * How long a call that was given up may be on its way: the network may
 * deliver it minutes later. After that it waits for two leases at most.
 */
const lostCallMs = 300_000;
/** The shortest time limit of a call: a busy server may take seconds. */
const shortestCallTimeoutSeconds = 5;

function coordinatorOf<Tx>(
  { service, schema, instanceId }: WhizbangOptions<Tx>,
  settings: Settings,
  { forCalls }: Database,
  sendsDirectly: boolean,
): WorkCoordinator {
  return new WorkCoordinator({
    pool: forCalls,
    schema,
    sendsDirectly,
    instance: instanceId === undefined ? { serviceName: service } : { serviceName: service, instanceId },
    partitionCount: settings.partitionCount,
    maxPartitionsPerInstance: settings.maxPartitionsPerInstance,
    leaseSeconds: settings.leaseSeconds,
    staleThresholdSeconds: settings.staleThresholdSeconds,
    takeoverSeconds: settings.takeoverSeconds,
    // A third of a lease, as for renewals: one call that is never answered must not cost the leases.
    callTimeoutSeconds: Math.max(shortestCallTimeoutSeconds, settings.leaseSeconds / 3),
  });
}

function lineOf(
  coordinator: WorkCoordinator,
  gate: WorkGate,
  leaseSeconds: number,
  request: Pick<WorkBatchRequest, 'inboxHandlers' | 'perspectives'>,
): CallLine {
  return new CallLine({
    coordinator,
    room: () => gate.room(),
    onBatch: (batch, sentAt) => gate.take(batch, sentAt),
    // Reports go with what is sent next: a program that sends in a loop makes half as many calls.
    pause: turn,
    lostLeaseMs: lostCallMs + 3 * leaseSeconds * 1000,
    request: { ...request, maxPerspectiveItems: 0, flags: WorkBatchFlags.LookAgain },
  });
}

/** Makes the transactions of receptors, under watch: the user's own, or those of the pool. */
function transactionsOf<Tx>(
  { transaction }: WhizbangOptions<Tx>,
  { pool, forCalls }: Database,
  leaseSeconds: number,
): RunWatched<Tx> {
  const ofPool = () => poolTransaction({ pool, leaseSeconds, answerMs: answerMsOf(leaseSeconds) });
  return new TransactionWatch<Tx>({
    // Without the option Tx is Queryable, its default.
    transaction: transaction ?? (ofPool() as RunInTransaction<unknown> as RunInTransaction<Tx>),
    // Receptors may have taken the whole pool. A call may be waiting
    // for a lock of the very transaction whose state is read.
    pools: [pool, forCalls],
    leaseSeconds,
  }).run;
}

/** Refuses a lease that is too short for two renewals: one that fails must cost nothing. */
function refuseShortLease({ leaseSeconds, renewSeconds }: Settings): void {
  if (renewSeconds * 2 <= leaseSeconds) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `createWhizbang: renewSeconds is ${renewSeconds} and leaseSeconds is ${leaseSeconds}.`,
    hint: 'Renew at least twice in a lease: set renewSeconds to a third of leaseSeconds.',
    details: { option: 'renewSeconds', value: renewSeconds },
  });
}
