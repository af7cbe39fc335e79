import type { DatabaseOptions, Queryable } from '../database/index.js';
import type { RetentionRule } from '../events/index.js';
import type { Logger } from '../logger.js';
import type { WhizbangNumbers } from '../options.js';
import type { AnyPerspective } from '../perspectives/index.js';
import type { Receptor, RetryPolicy } from '../receptors/index.js';
import type { Transport } from '../transports/index.js';
import type { RunInTransaction } from '../work/index.js';

/** Options of `createWhizbang`. Defaults and bounds: docs/reference/options.md. */
export type WhizbangOptions<Tx = Queryable> = WhizbangNumbers &
  DatabaseOptions & {
    /** The name of this service, and its address for commands. Its instances share it. */
    readonly service: string;
    /** The schema that was migrated, one per service. Default: `public`. */
    readonly schema?: string | undefined;
    /** The receptors of this instance. */
    readonly receptors?: readonly Receptor<Tx>[] | undefined;
    /** The perspectives of this instance: models that follow from the events of its store. */
    readonly perspectives?: readonly AnyPerspective<Tx>[] | undefined;
    /** The transport of messages. Default: PostgreSQL, between services that share the database. */
    readonly transport?: Transport | undefined;
    /**
     * Begins a transaction of your ORM for each receptor, which gets it as
     * `ctx.tx`. Its level is READ COMMITTED. Default: a transaction of the pool.
     */
    readonly transaction?: RunInTransaction<Tx> | undefined;
    /** When what is sent outside a transaction is stored: at once, or by a timer (`intervalMs`). Default: `immediate`. */
    readonly strategy?: 'immediate' | 'interval' | undefined;
    /**
     * Whether to LISTEN for what is inserted, over a connection of the pool; or the URL of a connection straight to
     * PostgreSQL, when the pool goes through pgbouncer. False: poll only. Default: true.
     */
    readonly listen?: boolean | string | undefined;
    /** The retry policy for receptors that have none of their own, and for sending to the transport. */
    readonly retry?: Partial<RetryPolicy> | undefined;
    /** Rules by which old streams of the event store are archived or deleted. Default: all are kept. */
    readonly retention?: { readonly events: readonly RetentionRule[] } | undefined;
    /** The logger. Default: warnings and errors go to the console. */
    readonly logger?: Logger | undefined;
    /**
     * Returns the `traceparent` of the active span, from your
     * tracing library. It is used when a call sets none.
     */
    readonly traceContext?: (() => string | undefined) | undefined;
    /** A UUID that no other process has. Default: a new one. */
    readonly instanceId?: string | undefined;
  };

export const otherOptions = [
  'pool',
  'connectionString',
  'service',
  'schema',
  'receptors',
  'perspectives',
  'transport',
  'transaction',
  'strategy',
  'listen',
  'retry',
  'retention',
  'logger',
  'traceContext',
  'instanceId',
] as const satisfies (keyof WhizbangOptions)[];
