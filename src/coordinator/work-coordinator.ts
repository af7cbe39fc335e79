import { hostname } from 'node:os';
import {
  type ConnectionPool,
  defaultSchema,
  fromDatabaseError,
  guardPool,
  type Queryable,
  quoteSchema,
  retrying,
  withPooledClient,
} from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { type WorkBatch, WorkBatchFlags } from '../message.js';
import { newMessageId } from '../message-id.js';
import {
  coordinatorOptions,
  type GivenOptions,
  type ResolvedOptions,
  refuseUnknownKeys,
  resolveOptions,
} from '../options.js';
import { deregisterInstance } from './functions.js';
import type { Instance, WorkBatchRequest } from './request.js';
import { splitTimers } from './timer-functions.js';
import { decodeBatch, encodeCall, requestParts, type Statement } from './wire.js';

/** Options of a WorkCoordinator: its database, its instance, and numbers that go with every call. */
export type CoordinatorOptions = (
  | { readonly pool: ConnectionPool; readonly client?: undefined }
  /**
   * A client or transaction of the caller. Nothing is retried
   * on it: only its owner knows what else was done on it.
   */
  | { readonly client: Queryable; readonly pool?: undefined }
) &
  GivenOptions<typeof coordinatorOptions> & {
    readonly instance: Partial<Instance> & Pick<Instance, 'serviceName'>;
    /** The schema. Default: `whizbang`. */
    readonly schema?: string | undefined;
    /** Whether what only this schema listens to goes straight to its inbox (WorkBatchFlags.Direct). Default: false. */
    readonly sendsDirectly?: boolean | undefined;
    /** The share of streams, 0 to 1, whose finished messages leave a row in wh_history. Default: 0. */
    readonly historyShare?: number | undefined;
  };

/** The only door to `process_work_batch`, for programs that coordinate their own work. `createWhizbang` has one. */
export class WorkCoordinator {
  readonly instance: Instance;
  readonly #options: ResolvedOptions<typeof coordinatorOptions>;
  readonly #defaults: WorkBatchRequest;
  readonly #schema: string;
  readonly #sendsDirectly: boolean;
  readonly #historyBits: number;
  readonly #source: { readonly pool?: ConnectionPool | undefined; readonly client?: Queryable | undefined };

  constructor(options: CoordinatorOptions) {
    const others = ['pool', 'client', 'instance', 'schema', 'sendsDirectly', 'historyShare'];
    this.#options = resolveOptions('WorkCoordinator', coordinatorOptions, { ...options }, others);
    const { maxRetries, retryDelayMs, callTimeoutSeconds, ...defaults } = this.#options;
    this.#defaults = defaults;
    this.#schema = quoteSchema(options.schema ?? defaultSchema);
    this.#sendsDirectly = options.sendsDirectly === true;
    this.#historyBits = Math.round(Math.min(Math.max(options.historyShare ?? 0, 0), 1) * 100) << 16;
    this.instance = resolveInstance(options.instance);
    if ((options.pool === undefined) === (options.client === undefined)) {
      throw new WhizbangError('INVALID_OPTION', {
        message: 'WorkCoordinator: exactly one of pool and client is needed.',
        details: { option: options.pool === undefined ? 'pool' : 'client' },
      });
    }
    if (options.pool !== undefined) guardPool(options.pool);
    this.#source = { pool: options.pool, client: options.client };
  }

  /**
   * Makes one call in one transaction. Given a transaction of the caller, the call
   * becomes part of it, and what it handed out counts only once that is committed.
   */
  async processWorkBatch(request: WorkBatchRequest = {}, transaction?: Queryable): Promise<WorkBatch> {
    const { text, values } = this.#encode(request);
    return decodeBatch(await this.#run(async (db) => (await db.query(text, values)).rows, transaction));
  }

  #encode(request: WorkBatchRequest): Statement {
    refuseUnknownKeys('processWorkBatch', request as Readonly<Record<string, unknown>>, requestKeys);
    const { flags = WorkBatchFlags.None } = request;
    const { newOutboxMessages, newTimers } = withoutTimers(request);
    const isDirect = this.#sendsDirectly && newOutboxMessages.length + newTimers.length > 0;
    const own = (isDirect ? WorkBatchFlags.Direct : 0) | this.#historyBits;
    const changed = { newOutboxMessages, newTimers, flags: own === 0 ? undefined : flags | own };
    return encodeCall(this.#schema, this.instance, changed, request, this.#defaults);
  }

  /** Deregisters this instance and frees what it holds, at once. Returns how many streams were released. */
  async deregister(transaction?: Queryable): Promise<number> {
    return this.#run((db) => deregisterInstance(db, this.#schema, this.instance.instanceId), transaction);
  }

  async #run<T>(query: (db: Queryable) => Promise<T>, transaction?: Queryable): Promise<T> {
    const callers = transaction ?? this.#source.client;
    if (callers === undefined) {
      const pool = this.#source.pool as ConnectionPool;
      const { callTimeoutSeconds } = this.#options;
      const timeoutMs = callTimeoutSeconds === undefined ? undefined : callTimeoutSeconds * 1000;
      return retrying(() => withPooledClient(pool, query, timeoutMs), this.#options);
    }
    return query(callers).catch((error: unknown) => {
      throw fromDatabaseError(error);
    });
  }
}

/** Separates the new messages that wait as timers. Mostly there are none. */
function withoutTimers({ newOutboxMessages = [], newTimers = [] }: WorkBatchRequest) {
  if (!Array.isArray(newOutboxMessages) || !newOutboxMessages.some((message) => message?.isTimer === true)) {
    return { newOutboxMessages, newTimers };
  }
  const { timers, others } = splitTimers(newOutboxMessages);
  return { newOutboxMessages: others, newTimers: [...newTimers, ...timers] };
}

const requestKeys = Object.keys(requestParts);

function resolveInstance(given: CoordinatorOptions['instance']): Instance {
  const known = ['instanceId', 'serviceName', 'hostName', 'processId', 'metadata'];
  refuseUnknownKeys('WorkCoordinator instance', { ...given }, known);
  if (typeof given?.serviceName !== 'string' || given.serviceName === '') {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'WorkCoordinator: instance.serviceName is missing.',
      hint: 'Name the service, for example instance: { serviceName: "orders" }.',
      details: { option: 'instance.serviceName' },
    });
  }
  return Object.freeze({
    instanceId: given.instanceId ?? newMessageId(),
    serviceName: given.serviceName,
    hostName: given.hostName ?? hostname(),
    processId: given.processId ?? process.pid,
    metadata: given.metadata,
  });
}
