// All events of the store in one order, which nothing enters behind a reader: by ticks, see docs/internals/ticks.md.
// In: a position, definitions. Out: events with their positions, until there are no more, or for ever.
// Called by the event store. It never waits for a transaction that is open, and a follower outlasts an outage.
import { setTimeout as pause } from 'node:timers/promises';
import { readEvents, type TickPosition, tick } from '../coordinator/index.js';
import type { WhizbangError } from '../errors.js';
import { type EventRow, StoredEvent } from '../fold/index.js';
import type { Logger } from '../logger.js';
import type { EventDefinition } from '../messages/index.js';
import { invalidOption, refuseUnknownKeys } from '../options.js';
import { outlast } from './outlast.js';
import type { StoreAccess } from './store-access.js';
import type { SubjectKeys } from './subject-keys.js';
import type { TickAudit } from './tick-audit.js';

/** Options of `events.all`. */
export interface AllOptions {
  /** The position of the last event that was read. Default: from the first event on. */
  readonly after?: string | undefined;
  /** Only events of these definitions, also under their earlier names. Default: all. */
  readonly events?: readonly EventDefinition[] | undefined;
  /** Goes on with what is appended later, until it is aborted or left. Default: false. */
  readonly follow?: boolean | undefined;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/** An event of `events.all`. */
export class LoggedEvent<Payload = unknown> extends StoredEvent<Payload> {
  /** Its place in the order of all events, to go on behind it: `{ after: event.position }`. */
  readonly position: string;

  constructor(row: EventRow, position: string) {
    super(row);
    this.position = position;
  }
}

const pageSize = 500;
/** The pauses of a reader that has found nothing double up to this. */
const longestPauseMs = 250;

export class EventLog {
  readonly #access: StoreAccess;
  readonly #keys: SubjectKeys;
  readonly #logger: Logger;

  readonly #audit: TickAudit;

  constructor(access: StoreAccess, keys: SubjectKeys, logger: Logger, audit: TickAudit) {
    this.#access = access;
    this.#keys = keys;
    this.#logger = logger;
    this.#audit = audit;
  }

  async *read(options: AllOptions): AsyncGenerator<LoggedEvent, void, undefined> {
    const { position, types } = resolve(options);
    const { follow = false, signal } = options;
    let place = position;
    let pauseMs = 1;
    const isAborted = () => signal?.aborted === true;
    // The first page says whether there is a database. From then on a follower waits for the end of an outage.
    let hasRead = false;
    const isHopeless = () => !hasRead || this.#access.isEnded;
    const outlasting = { logger: this.#logger, signal, isHopeless };
    while (!isAborted()) {
      const page = () => this.#page(place, types);
      const rows = (follow ? await outlast(page, outlasting) : await page()) ?? [];
      hasRead = true;
      for (const { tick: at, ...row } of rows) {
        place = { tick: at, sequenceNumber: row.sequence_number };
        if (row.event_id !== null) yield new LoggedEvent(row as EventRow, textOf(place));
        if (isAborted()) return;
      }
      if (rows.length > 0) {
        pauseMs = 1;
        continue;
      }
      if (!follow) return;
      await outlast(() => this.#audit.sometimes(), outlasting);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }

  /** A page behind the position. When there is none, a tick is made first: what has been committed is in it. */
  async #page(after: TickPosition, types: readonly string[] | undefined) {
    const read = () =>
      this.#access.ask(undefined, (db, schema) => readEvents(db, schema, after, types, pageSize));
    const rows = await read();
    if (rows.length > 0) return this.#opened(rows);
    const newest = await this.#access.ask(undefined, (db, schema) => tick(db, schema));
    if (after.tick > (newest ?? 0)) throw aheadOf(after, newest);
    return this.#opened(await read());
  }

  /** Opens the sealed fields. The last row may have no event. */
  async #opened(rows: Awaited<ReturnType<typeof readEvents>>) {
    const events = rows.filter((row) => row.event_id !== null) as (EventRow & { tick: number })[];
    return [...(await this.#keys.openEvents(events)), ...rows.filter((row) => row.event_id === null)];
  }
}

const form = /^(\d{1,16})-(\d{1,16})$/;

function resolve(options: AllOptions): { position: TickPosition; types: readonly string[] | undefined } {
  refuseUnknownKeys('events.all', { ...options }, ['after', 'events', 'follow', 'signal']);
  const { after, events } = options;
  const [, at = '0', number = '0'] = after === undefined ? [] : (form.exec(after) ?? []);
  if (after !== undefined && !form.test(after)) {
    const hint =
      'Give the position of an event that events.all has returned, or leave it out to begin at the first.';
    throw invalidOption('events.all', 'after', 'after is not a position', hint);
  }
  if (events !== undefined && !(Array.isArray(events) && events.every((each) => each?.kind === 'event'))) {
    const hint = 'Give a list of what defineEvent has returned, or leave it out to read all.';
    throw invalidOption('events.all', 'events', 'events is not a list of event definitions', hint);
  }
  return {
    position: { tick: Number(at), sequenceNumber: Number(number) },
    types: events?.flatMap(({ type, formerly }) => [type, ...formerly]),
  };
}

/** Whoever waited there would get nothing for a while, and then miss all events up to it. */
function aheadOf(after: TickPosition, newest: number | null): WhizbangError {
  const has = newest === null ? 'there are no events yet' : `the newest tick is ${newest}`;
  const fact = `after is ${textOf(after)}, which this store has not reached: ${has}`;
  const hint =
    'The position is of another store, or this one was restored to an earlier state. Give the position that belongs to it, ' +
    'or leave it out to begin at the first event.';
  return invalidOption('events.all', 'after', fact, hint);
}

function textOf({ tick: at, sequenceNumber }: TickPosition): string {
  return `${at}-${sequenceNumber}`;
}
