import type { DatabaseOptions, Queryable } from '../database/index.js';
import type { Logger } from '../logger.js';
import type { WhizbangNumbers } from '../options.js';
import type { AnyPerspective } from '../perspectives/index.js';
import type { Around, Receptor, RetryPolicy } from '../receptors/index.js';
import type { HistoryOptions, RetentionOptions } from '../retention/index.js';
import type { Schedule } from '../schedules/index.js';
import type { TelemetryOptions } from '../telemetry/index.js';
import type { Transport } from '../transports/index.js';
import type { RunInTransaction } from '../work/index.js';

/** Options of `createWhizbang`. Defaults and bounds: docs/reference/options.md. */
export type WhizbangOptions<Tx = Queryable> = WhizbangNumbers &
  DatabaseOptions & {
    /** The name of this service, and its address for commands. Its instances share it. */
    readonly service: string;
    /** The schema that was migrated, one per service. Default: `whizbang`. */
    readonly schema?: string | undefined;
    /** The receptors of this instance. More can be added until it starts: `shop.add(receptor)`. */
    readonly receptors?: readonly Receptor<Tx>[] | undefined;
    /** Runs around every receptor, outside of the receptor's own. Default: nothing. */
    readonly around?: Around<Tx> | undefined;
    /** The perspectives of this instance: models that follow from the events of its store. */
    readonly perspectives?: readonly AnyPerspective<Tx>[] | undefined;
    /**
     * The schedules of the service: `[schedule('nightly', '0 2 * * *', () => CloseBooks({}))]`. They are those of the
     * newest deploy: one that it does not have is removed. Left out: this instance has no say in them.
     */
    readonly schedules?: readonly Schedule[] | undefined;
    /**
     * Addresses to receive besides those of the receptors. What arrives there waits in the inbox for whoever handles it:
     * for an instance without receptors, that is a program of yours. Default: none.
     */
    readonly addresses?: readonly string[] | undefined;
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
    /** How long ids of messages, dead letters and streams of the event store are kept. Default: for ever. */
    readonly retention?: RetentionOptions | undefined;
    /** Keeps a row of each finished message, without its payload, for so many days. Default: none is kept. */
    readonly history?: HistoryOptions | undefined;
    /** The logger. Default: warnings and errors go to the console. */
    readonly logger?: Logger | undefined;
    /**
     * Traces and metrics through OpenTelemetry, when `@opentelemetry/api` can be loaded. False: none. Default: true.
     */
    readonly telemetry?: boolean | TelemetryOptions | undefined;
    /**
     * Returns the `traceparent` of the active span, from a tracing library other
     * than OpenTelemetry. It is used when a call sets none.
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
  'around',
  'perspectives',
  'schedules',
  'addresses',
  'transport',
  'transaction',
  'strategy',
  'listen',
  'retry',
  'retention',
  'history',
  'logger',
  'telemetry',
  'traceContext',
  'instanceId',
] as const satisfies (keyof WhizbangOptions)[];

/**
 * Requires `transaction` for receptors made for an ORM's transaction: without it, receptors get a Queryable.
 */
export type TransactionNeeded<Tx> = Queryable extends Tx
  ? unknown
  : Required<Pick<WhizbangOptions<Tx>, 'transaction'>>;
