// The composition root: options in, a running instance out. It alone knows all the parts.
import type { WorkCoordinator } from './coordinator/index.js';
import { type Queryable, quoteSchema } from './database/index.js';
import { Dispatcher, MessageScope, type RequestOptions } from './dispatch/index.js';
import type { WhizbangError } from './errors.js';
import { type EventStore, type Forgotten, forget } from './events/index.js';
import type { MessageId } from './message.js';
import type { MessageToSend } from './messages/index.js';
import { DeadLetters, Operations, retryNow, StoredMessages } from './operate/index.js';
import type { ModelsOf, PerspectiveBuilds } from './perspectives/index.js';
import type { Receptor } from './receptors/index.js';
import { Requests } from './requests/index.js';
import {
  alreadyStarted,
  assemble,
  connect,
  flushAndDeregister,
  isStopped,
  logLife,
  notStarted,
  type Parts,
  type Readiness,
  type TransactionNeeded,
  type WhizbangEvents,
  type WhizbangOptions,
  Workers,
  withoutTransport,
} from './runtime/index.js';
import { Schedules } from './schedules/index.js';
import { createStrategy } from './strategies/index.js';
import { beforeDeadline } from './time-limits.js';
import { cancel, Timers } from './timers/index.js';

/** Time to store what was sent and to deregister, when the time to stop is already over. */
const finalFlushMs = 2_000;

/**
 * Creates an instance of a service. It can send at once, and after `start`
 * it publishes and handles too. `Tx` is what receptors get as `ctx.tx`.
 */
export function createWhizbang<Tx = Queryable>(
  options: WhizbangOptions<Tx> & TransactionNeeded<Tx>,
): Whizbang<unknown extends Tx ? Queryable : Tx> {
  return new Whizbang<unknown extends Tx ? Queryable : Tx>(options as never);
}

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
  /** The messages that wait for their time. */
  readonly timers: Timers;
  /** The messages that are sent at the times of a pattern. */
  readonly schedules: Schedules;
  /** The messages of the service, with their states. */
  readonly messages: StoredMessages;
  /** The messages that were given up. */
  readonly deadLetters: DeadLetters;
  /** What operators do: pause, release, give up. */
  readonly operations: Operations;
  readonly #parts: Parts<Tx>;
  readonly #requests: Requests;
  #workers: Workers<Tx> | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #starting: Promise<void> = Promise.resolve();
  /** The error with which it could not start, unless it was stopped meanwhile. */
  #failure: unknown;
  #stopping: Promise<void> | undefined;

  constructor(options: WhizbangOptions<Tx>) {
    const parts = assemble(options);
    const sender = { ...parts.origin, outbox: parts.outbox };
    super(sender);
    this.service = options.service;
    this.coordinator = parts.coordinator;
    this.events = parts.eventStore;
    this.model = parts.models;
    this.perspectives = parts.builds;
    this.timers = new Timers(parts.access);
    this.schedules = new Schedules(parts.access);
    this.messages = new StoredMessages(parts.access);
    this.deadLetters = new DeadLetters(parts.access);
    this.operations = new Operations(parts.access);
    this.#parts = parts;
    const receive = async () => {
      if (this.#state === 'stopped') throw this.#stopped('request');
      await this.#starting;
      if (this.#workers === undefined) throw notStarted(this.service, 'request');
      await this.#workers.receiveAnswers();
    };
    const access = { pool: parts.database.pool, schema: quoteSchema(parts.schema) };
    this.#requests = new Requests({ ...access, sender, receive });
  }

  /**
   * Begins to publish what is in the outbox and to handle what
   * arrives. Resolves when it does. An instance starts once.
   */
  async start(): Promise<this> {
    if (this.#state === 'started') throw alreadyStarted(this.service, 'start');
    if (this.#state === 'stopped') throw this.#stopped('start');
    this.#state = 'started';
    try {
      this.#starting = this.#parts.telemetry.outside(() => this.#startWorkers());
      await this.#starting;
    } catch (error) {
      const failure = withoutTransport(error);
      if (this.#stopping === undefined) this.#failure = failure;
      await this.stop({ seconds: 0 });
      throw failure;
    }
    this.#parts.retention.start();
    logLife(this.#parts, 'Started');
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

  /** Adds receptors that `createWhizbang` was not given, before `start`: for those that need the instance. */
  add(...receptors: readonly Receptor<Tx>[]): this {
    if (this.#state === 'stopped') throw this.#stopped('add receptors');
    if (this.#state === 'started') throw alreadyStarted(this.service, 'add receptors');
    this.#parts.addReceptors(receptors);
    return this;
  }

  /** Opens a scope, to send in batches: all that is sent in it is stored in one call at its end. */
  scope(): MessageScope {
    if (this.#state === 'stopped') throw this.#stopped('open a scope');
    const { line, logger, origin, inTransaction } = this.#parts;
    return new MessageScope(origin, createStrategy('scoped', { line, logger }), inTransaction);
  }

  /** Sends a command; resolves with the result of its receptor. Rejects with REQUEST_TIMEOUT or REQUEST_FAILED. */
  request<Result>(command: MessageToSend<'command', Result>, options?: RequestOptions): Promise<Result> {
    return this.#requests.ask(command, options);
  }

  /**
   * Takes back a message that has not begun: one that waits for its time, or in a queue of this service. Returns whether
   * it did: after true it is never handled. With your own transaction it is taken back if and only if that commits.
   */
  cancel(messageId: MessageId, options: { readonly tx?: object } = {}): Promise<boolean> {
    const { database, schema } = this.#parts;
    return cancel({ pool: database.pool, schema }, messageId, options);
  }

  /**
   * Erases the personal data of a subject: deletes the key of the sealed fields of its events. They read as null from
   * then on, wherever copies of the events are. It cannot be undone.
   */
  forget(subject: string): Promise<Forgotten> {
    return forget(this.#parts.access, subject);
  }

  /** Tries a message again now that waits for its next attempt or its time. Returns whether it waited. */
  retryNow(messageId: string): Promise<boolean> {
    return retryNow(this.#parts.access, messageId);
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
    const { database, schema, logger, line } = this.#parts;
    const { connection, transportState } = await connect(this.#parts);
    if (this.#stopping !== undefined) {
      await connection.close();
      throw this.#stopped('start');
    }
    const workersOptions = {
      ...this.#parts,
      service: this.service,
      pool: database.pool,
      schema: quoteSchema(schema),
      concurrency: database.concurrency,
      connectToListen: database.connectToListen,
      reports: createStrategy('scoped', { line, logger }),
      transportState,
      requests: this.#requests,
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
    this.#requests.stop(this.#stopped('request'));
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
    logLife(this.#parts, 'Stopped');
  }

  #stopped(what: string): WhizbangError {
    return isStopped(this.service, what, this.#failure);
  }
}
