// Options become the parts of an instance that has not started: it can send and invoke.
// In: the options of createWhizbang. Out: its parts, each made with the parts that are named here.
// Called by the composition root.
import type { WorkCoordinator } from '../coordinator/index.js';
import { type Database, defaultSchema, openDatabase, quoteSchema } from '../database/index.js';
import {
  InstanceOutbox,
  type Origin,
  type OutboxWriter,
  TransactionOutbox,
  UniqueSending,
} from '../dispatch/index.js';
import { EventStore, StoreAccess, SubjectKeys, TickAudit } from '../events/index.js';
import { consoleLogger, type Logger } from '../logger.js';
import { type ResolvedOptions, resolveOptions, whizbangOptions } from '../options.js';
import {
  InlinePerspectives,
  ModelAccess,
  type ModelsOf,
  modelsIn,
  PerspectiveBuilds,
  PerspectiveRegistry,
} from '../perspectives/index.js';
import type { Receptor } from '../receptors/index.js';
import { Retention, resolveRetention } from '../retention/index.js';
import type { Schedule } from '../schedules/index.js';
import { type CallLine, createStrategy, type WorkCoordinatorStrategy } from '../strategies/index.js';
import { resolveTelemetry, Telemetry, withIds } from '../telemetry/index.js';
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
import { coordinatorOf, lineOf } from './assemble-calls.js';
import { refuseShortLease, refuseWrongParts } from './check-options.js';
import { WhizbangEmitter } from './events.js';
import { InstanceFacts } from './instance-facts.js';
import { receptorAdder } from './receptor-adder.js';
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
  /** Undefined: the instance has no say in the schedules of its service. */
  readonly schedules: readonly Schedule[] | undefined;
  readonly facts: InstanceFacts;
  readonly telemetry: Telemetry;
  readonly sendsDirectly: boolean;
  readonly addReceptors: (receptors: readonly Receptor<Tx>[]) => void;
}

export function assemble<Tx>(options: WhizbangOptions<Tx>): Parts<Tx> {
  refuseWrongParts(options);
  const settings = resolveOptions('createWhizbang', whizbangOptions, { ...options }, otherOptions);
  refuseShortLease(settings);
  const kept = resolveRetention(options.retention, options.history);
  const telemetryOptions = resolveTelemetry(options.telemetry);
  const { service, schema = defaultSchema } = options;
  const registry = new ReceptorRegistry<Tx>(options.addresses);
  const policies = new RetryPolicies<Tx>('createWhizbang', options.retry ?? {});
  const addReceptors = receptorAdder(registry, policies, options.around);
  addReceptors(options.receptors ?? []);
  const database = openDatabase(options, settings.concurrency);
  const transport = options.transport ?? postgresTransport();
  const { sendsDirectly = false } = transport;
  const coordinator = coordinatorOf(options, settings, database, sendsDirectly);
  const { instanceId } = coordinator.instance;
  const telemetry = new Telemetry(telemetryOptions, { service, instanceId, transport: transport.name });
  const logger = withIds(options.logger ?? consoleLogger, instanceId, () => telemetry.ids());
  const gate = new WorkGate();
  const perspectives = new PerspectiveRegistry<Tx>(options.perspectives ?? []);
  const facts = new InstanceFacts(() => telemetry.isMetered);
  const room = () => ({ ...gate.room(), facts: facts.next() });
  const line = lineOf(coordinator, { room, gate, telemetry }, settings.leaseSeconds, {
    inboxHandlers: registry.handlerNames,
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
    instanceId,
    traceContext: options.traceContext,
    traces: telemetry,
    sealer: keys,
  };
  const inline = new InlinePerspectives({
    perspectives: perspectives.all,
    pool: database.pool,
    schema: quoteSchema(schema),
    keys,
    telemetry,
    logger,
  });
  const audit = new TickAudit(access, logger);
  const eventStore = new EventStore({ access, keys, audit, sender, logger, inline });
  const modelAccess = new ModelAccess({ pool: database.pool, schema: quoteSchema(schema), keys });
  const invoker = new LocalInvoker<Tx>({
    registry,
    transaction,
    outbox,
    events: eventStore,
    telemetry,
    origin: {
      ...sender,
      unique: new UniqueSending({ pool: database.pool, schema: quoteSchema(schema), inTransaction }),
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
    retention: new Retention(access, kept, logger),
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
    schedules: options.schedules,
    facts,
    telemetry,
    sendsDirectly,
    addReceptors,
  };
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
