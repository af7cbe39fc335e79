// The composition root: options in, a running instance out. It alone knows all the parts.

import type { WorkCoordinator } from './coordinator/index.js';
import { type Queryable, quoteSchema } from './database/index.js';
import { Dispatcher, MessageScope } from './dispatch/index.js';
import { WhizbangError } from './errors.js';
import { type EventStore, type Forgotten, forget } from './events/index.js';
import type { ModelsOf, PerspectiveBuilds } from './perspectives/index.js';
import {
  assemble,
  flushAndDeregister,
  type Parts,
  type Readiness,
  type WhizbangEvents,
  type WhizbangOptions,
  Workers,
} from './runtime/index.js';
import { createStrategy } from './strategies/index.js';
import { beforeDeadline } from './time-limits.js';
import { packageVersion } from './version.js';

/** Time to store what was sent and to deregister, when the time to stop is already over. */
const finalFlushMs = 2_000;

/**
 * Creates an instance of a service. It can send at once, and after `start`
 * it publishes and handles too. `Tx` is what receptors get as `ctx.tx`.
 */
export function createWhizbang<Tx = Queryable>(
  options: WhizbangOptions<Tx> & TransactionNeeded<Tx>,
): Whizbang<Tx> {
  return new Whizbang<Tx>(options);
}

/**
 * Requires `transaction` for receptors made for an ORM's transaction: without it, receptors get a Queryable.
 */
type TransactionNeeded<Tx> = Queryable extends Tx
  ? unknown
  : Required<Pick<WhizbangOptions<Tx>, 'transaction'>>;

/** An instance of a service, made by `createWhizbang`. */
export class Whizbang<Tx = Queryable> extends Dispatcher implements AsyncDisposable {
  readonly service: string;
  readonly coordinator: WorkCoordinator;
  /** The event store of the service. */
  readonly events: EventStore;
  /** Returns the models of a perspective: `shop.model(orders).get(id)`. */
  readonly model: ModelsOf;
  /** The perspectives of the service, for who operates them. */
  readonly perspectives: PerspectiveBuilds<Tx>;
  readonly #parts: Parts<Tx>;
  #workers: Workers<Tx> | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #starting: Promise<void> = Promise.resolve();
  /** The error with which it could not start, unless it was stopped meanwhile. */
  #failure: unknown;
  #stopping: Promise<void> | undefined;

  constructor(options: WhizbangOptions<Tx>) {
    const parts = assemble(options);
    super({ ...parts.origin, outbox: parts.outbox });
    this.service = options.service;
    this.coordinator = parts.coordinator;
    this.events = parts.eventStore;
    this.model = parts.models;
    this.perspectives = parts.builds;
    this.#parts = parts;
  }

  /**
   * Begins to publish what is in the outbox and to handle what
   * arrives. Resolves when it does. An instance starts once.
   */
  async start(): Promise<this> {
    if (this.#state === 'started') throw alreadyStarted(this.service);
    if (this.#state === 'stopped') throw this.#stopped('start');
    this.#state = 'started';
    try {
      this.#starting = this.#startWorkers();
      await this.#starting;
    } catch (error) {
      const failure = withoutTransport(error);
      if (this.#stopping === undefined) this.#failure = failure;
      await this.stop({ seconds: 0 });
      throw failure;
    }
    this.#parts.retention.start();
    this.#log('Started');
    return this;
  }

  /**
   * Stops receiving, finishes what runs or gives it back, stores what was sent,
   * releases the leases and closes. What is not finished in time (`stopSeconds`)
   * is aborted and given back. Does not fail when there is no database.
   */
  stop(options: { readonly seconds?: number | undefined } = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.seconds ?? this.#parts.settings.stopSeconds);
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Opens a scope, to send in batches: all that is sent in it is stored in one call at its end. */
  scope(): MessageScope {
    if (this.#state === 'stopped') throw this.#stopped('open a scope');
    const { line, logger, origin, inTransaction } = this.#parts;
    return new MessageScope(origin, createStrategy('scoped', { line, logger }), inTransaction);
  }

  /**
   * Erases the personal data of a subject: deletes the key of the sealed fields of its events. They read as null from
   * then on, wherever copies of the events are. It cannot be undone.
   */
  forget(subject: string): Promise<Forgotten> {
    return forget(this.#parts.access, subject);
  }

  /** What can be reached. Both are false before `start` and from `stop` on. */
  get readiness(): Readiness {
    return this.#parts.events.readiness;
  }

  on<Name extends keyof WhizbangEvents>(
    event: Name,
    listener: (...args: WhizbangEvents[Name]) => void,
  ): this {
    this.#parts.events.on(event, listener as never);
    return this;
  }

  off<Name extends keyof WhizbangEvents>(
    event: Name,
    listener: (...args: WhizbangEvents[Name]) => void,
  ): this {
    this.#parts.events.off(event, listener as never);
    return this;
  }

  async #startWorkers(): Promise<void> {
    const { database, coordinator, transport, schema, logger, line } = this.#parts;
    const { pool } = database;
    database.keep();
    const connection = await transport.connect({ instance: coordinator.instance, pool, schema, logger });
    if (this.#stopping !== undefined) {
      await connection.close();
      throw this.#stopped('start');
    }
    const workersOptions = {
      ...this.#parts,
      service: this.service,
      pool,
      schema: quoteSchema(schema),
      concurrency: database.concurrency,
      connectToListen: database.connectToListen,
      reports: createStrategy('scoped', { line, logger }),
    };
    this.#workers = new Workers<Tx>(workersOptions, connection);
    await this.#workers.start();
  }

  async #stop(seconds: number): Promise<void> {
    this.#state = 'stopped';
    const { sending, database, coordinator, logger, events, invoker } = this.#parts;
    const deadline = performance.now() + seconds * 1000;
    // `stop` may be called while it starts: without this wait, half of it would be left running.
    await beforeDeadline(
      this.#starting.catch(() => {}),
      deadline,
    );
    events.ready(false);
    const retentionEnded = this.#parts.retention.stop();
    const left = Math.max(deadline - performance.now(), 0);
    if (this.#workers !== undefined) await this.#workers.stop(left / 1000);
    else
      await beforeDeadline(
        flushAndDeregister({ sending, coordinator, logger }),
        performance.now() + Math.max(left, finalFlushMs),
      );
    invoker.stop();
    await beforeDeadline(retentionEnded, performance.now() + finalFlushMs);
    await database.close();
    this.#log('Stopped');
  }

  /** Lets an operator match a row of `wh_service_instances` to its process. */
  #log(what: string): void {
    const { logger, schema, coordinator, database } = this.#parts;
    const { instanceId, hostName, processId } = coordinator.instance;
    const facts = {
      service: this.service,
      schema,
      instanceId,
      hostName,
      processId,
      concurrency: database.concurrency,
    };
    logger.info({ ...facts, version: packageVersion }, what);
  }

  #stopped(what: string): WhizbangError {
    const why = this.#failure === undefined ? 'it is stopped' : 'it was stopped because its start failed';
    return new WhizbangError('DISPOSED', {
      message: `${this.service} cannot ${what}: ${why}.`,
      hint: 'An instance can be started only once, even if its start fails. Create a new one with createWhizbang.',
      cause: this.#failure,
    });
  }
}

function alreadyStarted(service: string): WhizbangError {
  return new WhizbangError('ALREADY_STARTED', {
    message: `${service} cannot start: it is already started.`,
  });
}

/** Names the database instead of the transport: where it is the transport too, it cannot be reached. */
function withoutTransport(error: unknown): unknown {
  const isOfTransport = error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE';
  return isOfTransport && error.cause instanceof WhizbangError ? error.cause : error;
}
