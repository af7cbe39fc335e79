// Inline perspectives: their models are stored in the transaction that appends the events.
// In: a transaction in which events were appended, or are to be. Out: the models of their streams, up to date in it.
// Called by the event store and by the parts that run receptors. An event that cannot be applied does not fail the
// transaction: the perspective's own batches come to it, and hold its stream.
import { appendEvents, inlineModels, writeInline } from '../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../database/index.js';
import { foldModels, type Perspective, StoredEvent } from '../fold/index.js';
import type { Logger } from '../logger.js';
import type { NewOutboxMessage, StreamId } from '../message.js';
import { knownEvents } from './known-events.js';
import type { OpenEvents } from './open-events.js';
import { type AnyPerspective, codeOf } from './registry.js';

interface StoringTelemetry {
  storeInline<T>(perspective: string, events: number, run: () => Promise<T>): Promise<T>;
}

interface InlineOptions {
  readonly perspectives: readonly AnyPerspective[];
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly keys: OpenEvents;
  /** Records that models are stored. */
  readonly telemetry?: StoringTelemetry | undefined;
  readonly logger: Logger;
}

type EventOfStream = Pick<NewOutboxMessage, 'eventType' | 'streamId'>;

export class InlinePerspectives {
  readonly #byCode = new Map<string, Perspective<unknown>>();
  readonly #types = new Set<string>();
  readonly #pool: ConnectionPool;
  /** The schema, quoted. */
  readonly #schema: string;
  readonly #logger: Logger;
  readonly #keys: OpenEvents;
  readonly #telemetry: StoringTelemetry | undefined;

  constructor({ perspectives, pool, schema, keys, telemetry, logger }: InlineOptions) {
    this.#telemetry = telemetry;
    this.#keys = keys;
    this.#pool = pool;
    this.#schema = schema;
    this.#logger = logger;
    for (const perspective of perspectives) {
      if (perspective.kind !== 'stream' || !perspective.inline) continue;
      this.#byCode.set(codeOf(perspective), perspective);
      for (const type of perspective.eventTypes) this.#types.add(type);
    }
  }

  /** Whether one of these events changes a model. */
  concerns(events: readonly EventOfStream[]): boolean {
    return this.#types.size > 0 && this.#streamsOf(events).length > 0;
  }

  /**
   * Brings the models of the streams of these events up to date. The events are in the store. Without a transaction
   * each statement is one of its own: a model is never stored over a newer one.
   */
  async bring(events: readonly EventOfStream[], db?: Queryable): Promise<void> {
    if (db === undefined) return withPooledClient(this.#pool, (client) => this.bring(events, client));
    const streamIds = this.#streamsOf(events);
    if (streamIds.length === 0) return;
    const codes = [...this.#byCode.keys()];
    for (const each of await inlineModels(db, this.#schema, codes, streamIds)) {
      const perspective = this.#byCode.get(each.code) as Perspective<unknown>;
      const store = () => this.#store(perspective, each, db);
      const count = each.streams.reduce((sum, stream) => sum + stream.events.length, 0);
      await (this.#telemetry?.storeInline(perspective.name, count, store) ?? store());
    }
  }

  async #store(
    perspective: Perspective<unknown>,
    { name, streams }: Awaited<ReturnType<typeof inlineModels>>[number],
    db: Queryable,
  ): Promise<void> {
    const before = new Map(streams.map(({ id, model, version }) => [id, { model, version }]));
    const rows = streams.flatMap((stream) => stream.events);
    const opened = await this.#keys.openEvents(rows, { db, holds: true });
    const missing = opened.map((row) => new StoredEvent(row));
    const { known, strange } = knownEvents(perspective, missing);
    const models = [];
    for (const result of [...(await foldModels(perspective, before, known)), ...strange]) {
      if (result.kind === 'held') this.#log(name, result.error.message);
      else {
        const { id, model: data, version, event } = result;
        models.push({ id, data, version, scope: event.scope });
      }
    }
    const refusal = models.length === 0 ? null : await writeInline(db, this.#schema, name, models);
    if (refusal !== null) this.#log(name, refusal);
  }

  /** Appends the events among these messages that change a model, and brings the models up to date. */
  async append(messages: readonly NewOutboxMessage[], db: Queryable): Promise<void> {
    const events = messages.filter(
      (message) => message.isEvent === true && message.isTimer !== true && this.concerns([message]),
    );
    if (events.length === 0) return;
    await appendEvents(db, this.#schema, events);
    await this.bring(events, db);
  }

  #streamsOf(events: readonly EventOfStream[]): readonly StreamId[] {
    const streams = new Set<StreamId>();
    for (const { eventType, streamId } of events) {
      if (streamId != null && this.#types.has(eventType)) streams.add(streamId);
    }
    return [...streams];
  }

  #log(perspective: string, error: string): void {
    this.#logger.warn(
      { perspective, error },
      'An inline model was not stored with its event; a batch does it',
    );
  }
}
