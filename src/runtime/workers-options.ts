import type { WorkCoordinator } from '../coordinator/index.js';
import type { ConnectionPool, ListenClient } from '../database/index.js';
import type { Origin, OutboxWriter } from '../dispatch/index.js';
import type { EventStore, SubjectKeys, TickAudit } from '../events/index.js';
import type { Logger } from '../logger.js';
import type { ResolvedOptions, whizbangOptions } from '../options.js';
import type { InlinePerspectives, PerspectiveRegistry } from '../perspectives/index.js';
import type { Requests } from '../requests/index.js';
import type { Schedule } from '../schedules/index.js';
import type { WorkCoordinatorStrategy } from '../strategies/index.js';
import type { Telemetry } from '../telemetry/index.js';
import type { ReceptorRegistry, RetryPolicies, RunWatched, WorkGate } from '../work/index.js';
import type { WhizbangEmitter } from './events.js';
import type { InstanceFacts } from './instance-facts.js';
import type { TransportReadiness } from './transport-readiness.js';

/** What the workers of an instance are made from. */
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
  readonly schedules: readonly Schedule[] | undefined;
  readonly facts: InstanceFacts;
  readonly telemetry: Telemetry;
  readonly requests: Requests;
  /** Whether what only this service listens to goes straight to its inbox. */
  readonly sendsDirectly: boolean;
  readonly events: WhizbangEmitter;
  readonly transportState: TransportReadiness;
  readonly logger: Logger;
}
