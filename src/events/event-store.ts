import { setTimeout as pause } from 'node:timers/promises';
import { appendEvents, loadStream, lockStream, readStream } from '../coordinator/index.js';
import { type AppendOptions, prepareEvents, resolveSendOptions } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import {
  type AppendReceipt,
  type DecideReceipt,
  type Decider,
  type Decision,
  deepFreeze,
  type Fold,
  foldEvents,
  type Receipt,
  StoredEvent,
  type StreamVersion,
} from '../fold/index.js';
import type { NewOutboxMessage, StreamId } from '../message.js';
import { type Envelope, type MessageToSend, streamIdOf } from '../messages/index.js';
import { resolveOptions, streamOptions } from '../options.js';
import { decided } from './decided.js';
import { type AllOptions, EventLog, type LoggedEvent } from './event-log.js';
import {
  type EventStoreOptions,
  type InTransaction,
  receiptOf,
  refuseNoTransaction,
  type StreamOptions,
} from './event-store-options.js';
import { Snapshots } from './snapshots.js';
import { type ArchivedStream, archive, remove } from './stored-streams.js';
import type { SubjectKeys } from './subject-keys.js';
import { TickAudit } from './tick-audit.js';

const pageSize = 500;
/** Tries of a decision when others append to the stream meanwhile. In each round of conflicts one of them wins. */
const mostTries = 50;
const longestPauseMs = 50;

/** The event store of a service: `shop.events`. */
export class EventStore {
  readonly #options: EventStoreOptions;
  readonly #snapshots: Snapshots;
  readonly #log: EventLog;

  constructor(options: EventStoreOptions, snapshots?: Snapshots) {
    this.#options = options;
    this.#snapshots = snapshots ?? new Snapshots(options.access, options.logger);
    const { access, keys, logger, audit = new TickAudit(access, logger) } = options;
    this.#log = new EventLog(access, keys, logger, audit);
  }

  /** Returns the store for a receptor: what is appended through it continues the message that is handled. */
  continuing(parent: Envelope): EventStore {
    const { sender } = this.#options;
    // The snapshots are shared: they remember which states cannot be kept, and warn once.
    return new EventStore({ ...this.#options, sender: { ...sender, parent } }, this.#snapshots);
  }

  /** Opens the sealed fields of a message that is about to be handled. */
  opened<M extends Parameters<SubjectKeys['openMessage']>[0]>(
    message: M,
  ): ReturnType<typeof SubjectKeys.prototype.openMessage<M>> {
    return this.#options.keys.openMessage(message);
  }

  /**
   * Appends events to their streams: all of them or none. Nobody is notified; `publish` sends them as well.
   * Rejects with EXPECTED_VERSION when the stream is not at `expectedVersion`.
   */
  async append(
    events: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
    options: AppendOptions = {},
  ): Promise<AppendReceipt> {
    const resolved = resolveSendOptions('append', options, 1);
    const prepared = await prepareEvents(events, this.#options.sender, resolved);
    const receipts = prepared.length === 0 ? [] : await this.#append(prepared, options.tx);
    return receiptOf(receipts);
  }

  /** Reads the events of a stream, page by page. The id may be the text that the stream rule makes it from. */
  async *stream(id: string, options: StreamOptions = {}): AsyncGenerator<StoredEvent, void, undefined> {
    const { after, limit = Number.POSITIVE_INFINITY } = resolveOptions(
      'events.stream',
      streamOptions,
      { ...options },
      ['backwards', 'tx'],
    );
    refuseNoTransaction('events.stream', options);
    const streamId = streamIdOf(id);
    const { backwards = false, tx } = options;
    let place = after;
    for (let left = limit; left > 0; left -= pageSize) {
      const page = { streamId, after: place, limit: Math.min(left, pageSize), backwards };
      const rows = await this.#options.access.ask(tx, (db, schema) => readStream(db, schema, page));
      for (const row of await this.#options.keys.openEvents(rows, { tx })) yield new StoredEvent(row);
      if (rows.length < page.limit) return;
      place = rows.at(-1)?.version;
    }
  }

  /**
   * Reads all events in one order, which is the same for every reader and agrees with every stream. An open
   * transaction delays its own events and no others.
   */
  all(options: AllOptions = {}): AsyncGenerator<LoggedEvent, void, undefined> {
    return this.#log.read(options);
  }

  /**
   * Moves the events of a stream to the archive, when every perspective has applied them. Reading, deciding and
   * appending go on as before.
   */
  async archive(id: string): Promise<ArchivedStream> {
    return archive(this.#options.access, streamIdOf(id));
  }

  /**
   * Deletes the events of a stream for ever, archived ones too. The stream keeps its version, and what is
   * appended to it later continues that.
   */
  async delete(id: string): Promise<StreamVersion> {
    return remove(this.#options.access, streamIdOf(id));
  }

  /** Loads the state of a stream. */
  async load<State>(decider: Decider<State>, id: string, options: InTransaction = {}): Promise<Fold<State>> {
    resolveOptions('events.load', {}, { ...options }, ['tx']);
    refuseNoTransaction('events.load', options);
    const { state, version } = await this.#load(decider, streamIdOf(id), options.tx);
    return { state, version };
  }

  /**
   * Decides on the state of a stream and appends what was decided. When others append meanwhile, it loads and
   * decides again: the function may be called several times. In a transaction it locks the stream first.
   */
  async decide<State>(
    decider: Decider<State>,
    id: string,
    decision: (state: State, version: number) => Decision | Promise<Decision>,
    options: InTransaction = {},
  ): Promise<DecideReceipt> {
    resolveOptions('events.decide', {}, { ...options }, ['tx']);
    refuseNoTransaction('events.decide', options);
    const streamId = streamIdOf(id);
    const { tx } = options;
    if (tx !== undefined) {
      await this.#options.access.ask(tx, (db, schema) => lockStream(db, schema, streamId));
      return this.#decideOnce(decider, streamId, decision, tx);
    }
    for (let tries = 1; ; tries++) {
      try {
        return await this.#decideOnce(decider, streamId, decision, tx);
      } catch (error) {
        if (tries === mostTries || !isConflictIn(streamId, error)) throw error;
        await pause(Math.random() * Math.min(2 ** tries, longestPauseMs));
      }
    }
  }

  async #decideOnce<State>(
    decider: Decider<State>,
    streamId: StreamId,
    decision: (state: State, version: number) => Decision | Promise<Decision>,
    tx: object | undefined,
  ): Promise<DecideReceipt> {
    const loaded = await this.#load(decider, streamId, tx);
    const { version } = loaded;
    const given = (await decision(loaded.state, version)) ?? [];
    const events = Array.isArray(given) ? given : [given];
    if (events.length === 0) return { streamId, version, receipts: [] };
    const resolved = resolveSendOptions('append', { expectedVersion: version }, 1);
    const sender = { ...this.#options.sender, tx };
    const prepared = await prepareEvents(events, sender, resolved, decided(decider, streamId));
    const receipts = await this.#append(prepared, tx);
    const after = version + events.length;
    if (this.#snapshots.isDue(decider, loaded.keptVersion, after)) {
      // Folded from what is stored, not from what was given: a kept state is the same as one that was loaded.
      await this.#snapshots.keep(decider, streamId, () => this.#load(decider, streamId, tx), tx);
    }
    return { streamId, version: after, receipts };
  }

  async #append(events: readonly NewOutboxMessage[], tx: object | undefined): Promise<readonly Receipt[]> {
    const { access, inline } = this.#options;
    if (inline?.concerns(events) !== true)
      return access.ask(tx, (db, schema) => appendEvents(db, schema, events));
    return access.askInTransaction(tx, async (db, schema) => {
      const receipts = await appendEvents(db, schema, events);
      await inline.bring(events, db);
      return receipts;
    });
  }

  async #load<State>(
    decider: Decider<State>,
    streamId: StreamId,
    tx: object | undefined,
  ): Promise<Fold<State> & { readonly keptVersion: number; readonly keyIds: readonly string[] }> {
    const { name, fold } = decider;
    const question = { streamId, decider: name, fold, limit: pageSize };
    const loaded = await this.#options.access.ask(tx, (db, schema) => loadStream(db, schema, question));
    const { snapshot, deleted_through, key_ids: keyIds } = loaded;
    const events = await this.#options.keys.openEvents(loaded.events, { tx });
    const kept: Fold<State> =
      snapshot === null
        ? { state: decider.initial, version: deleted_through }
        : { state: deepFreeze(snapshot.state as State), version: snapshot.version };
    let folded = await foldEvents(
      decider,
      kept,
      events.map((row) => new StoredEvent(row)),
    );
    if (events.length === pageSize) {
      const rest = this.stream(streamId, { after: folded.version, ...(tx === undefined ? {} : { tx }) });
      for await (const event of rest) folded = await foldEvents(decider, folded, [event]);
    }
    return { ...folded, keptVersion: kept.version, keyIds };
  }
}

function isConflictIn(streamId: StreamId, error: unknown): boolean {
  return (
    error instanceof WhizbangError && error.code === 'EXPECTED_VERSION' && error.details.streamId === streamId
  );
}
