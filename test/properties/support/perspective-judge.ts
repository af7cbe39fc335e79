// The judge of a schedule of perspectives: what every model has to be follows from the events alone.
import { expect } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { faultless, judge, makeTick } from '../../support/ticks.js';
import { judgeAnnouncements } from './perspective-announcements.js';
import { written } from './perspective-definitions.js';
import type { PerspectiveLedger } from './perspective-ledger.js';

export interface EventOfStore {
  readonly event_id: string;
  readonly stream_id: string;
  readonly version: number;
  readonly event_type: string;
  readonly event_data: { readonly label: string; readonly keys: readonly string[] };
}

/** A build of a perspective. */
interface Build {
  readonly name: string;
  readonly base_name: string;
  readonly version: number;
  readonly table_name: string | null;
}

/** All events in (tick, sequence_number), without what was announced. */
async function eventsOf(db: TestDatabase): Promise<EventOfStore[]> {
  const { rows } = await db.pool.query<EventOfStore>(
    `select e.event_id, e.stream_id, e.version::int, e.event_type, e.event_data
     from wh_event_store e join wh_event_ticks t on t.covers @> e.sequence_number
     where e.event_type <> 'Noted' order by t.tick, e.sequence_number`,
  );
  return rows;
}

type Models = Record<string, { version: number; labels: readonly string[] }>;

function ofStreams(events: readonly EventOfStore[], build: Build, ledger: PerspectiveLedger): Models {
  const models: Models = {};
  for (const { event_id, stream_id, version, event_type, event_data } of events) {
    if (ledger.isSkipped(build.name, event_id)) continue;
    const before = event_type === 'Begun' ? [] : (models[stream_id]?.labels ?? []);
    if (event_type === 'Ended') delete models[stream_id];
    else models[stream_id] = { version, labels: [...before, written(event_data.label, build.version)] };
  }
  return models;
}

function ofKeys(events: readonly EventOfStore[], build: Build, ledger: PerspectiveLedger): Models {
  const models: Models = {};
  for (const { event_id, event_type, event_data } of events) {
    if (event_type === 'Ended') continue;
    for (const key of event_data.keys) {
      if (ledger.isSkipped(build.name, event_id, key)) continue;
      const before = models[key]?.labels ?? [];
      const label = written(event_data.label, build.version);
      models[key] = { version: before.length + 1, labels: [...before, label] };
    }
  }
  return models;
}

async function modelsIn(db: TestDatabase, relation: string): Promise<Models> {
  const { rows } = await db.pool.query<{ id: string; version: number; labels: string[] }>(
    `select id::text, version::int, data -> 'labels' as labels from ${relation} where data is not null`,
  );
  return Object.fromEntries(rows.map(({ id, version, labels }) => [id, { version, labels }]));
}

/** An event whose keys could not be known for a while comes late: then only the order is another one. */
const inAnyOrder = (models: Models): Models =>
  Object.fromEntries(
    Object.entries(models).map(([key, { version, labels }]) => [key, { version, labels: labels.toSorted() }]),
  );

/**
 * When all is quiet: in every build each model is what its events amount to, the view shows the live one, and every
 * event has had its effect once, and was announced once.
 */
export async function judgeModels(db: TestDatabase, ledger: PerspectiveLedger): Promise<void> {
  // What was announced last is in no tick yet.
  await makeTick(db.pool);
  expect(await judge(db)).toMatchObject(faultless);
  const events = await eventsOf(db);
  const versions = groups(events.map(({ stream_id, version }) => [stream_id, version]));
  for (const [id, numbers] of Object.entries(versions)) {
    expect(numbers, `versions of ${id}`).toEqual(numbers.map((_, i) => i + 1));
  }
  const { rows: builds } = await db.pool.query<Build & { state: string }>(
    'select name, base_name, version, state, table_name from wh_perspectives order by name',
  );
  for (const build of builds) {
    const { base_name, table_name, state } = build;
    if (table_name === null) await judgeApplied(db, events, build, ledger);
    else await judgeTable(db, table_name, events, build, ledger);
    if (state !== 'live') continue;
    if (table_name !== null) expect(await modelsIn(db, base_name)).toEqual(await modelsIn(db, table_name));
    if (base_name !== 'inline') await judgeAnnouncements(db, base_name, events, ledger);
  }
}

async function judgeTable(
  db: TestDatabase,
  table: string,
  events: readonly EventOfStore[],
  build: Build,
  ledger: PerspectiveLedger,
): Promise<void> {
  const models = await modelsIn(db, table);
  const isOfKeys = ['keyed', 'loose'].includes(build.base_name);
  const expected = isOfKeys ? ofKeys(events, build, ledger) : ofStreams(events, build, ledger);
  const isLoose = build.base_name === 'loose';
  expect(isLoose ? inAnyOrder(models) : models, build.name).toEqual(
    isLoose ? inAnyOrder(expected) : expected,
  );
}

function groups<T>(pairs: readonly (readonly [string, T])[]): Record<string, T[]> {
  const all: Record<string, T[]> = {};
  for (const [key, value] of pairs) {
    all[key] ??= [];
    all[key].push(value);
  }
  return all;
}

/** Once for each event, and within a stream in the order of its versions. */
async function judgeApplied(
  db: TestDatabase,
  events: readonly EventOfStore[],
  { name, version }: Build,
  ledger: PerspectiveLedger,
): Promise<void> {
  const text = 'select event_id from applied where version = $1 order by id';
  const { rows } = await db.pool.query<{ event_id: string }>(text, [version]);
  const isWanted = ({ event_id, event_type }: EventOfStore) =>
    event_type !== 'Ended' && !ledger.isSkipped(name, event_id);
  const wanted = events.filter(isWanted);
  const streams = new Map(wanted.map(({ event_id, stream_id }) => [event_id, stream_id]));
  const byStream = (ids: readonly string[]) => groups(ids.map((id) => [streams.get(id) ?? '?', id]));
  expect(byStream(rows.map(({ event_id }) => event_id)), name).toEqual(
    byStream(wanted.map(({ event_id }) => event_id)),
  );
}

/** At any time: no model of an inline perspective goes back behind what an append has stored. */
export class InlineVersions {
  readonly #seen = new Map<string, number>();

  async judge(db: TestDatabase): Promise<void> {
    // A table that is dropped and made again is another one.
    const { rows: tables } = await db.pool.query<{ name: string; oid: string }>(
      `select table_name as name, table_name::regclass::oid::text as oid from wh_perspectives where is_inline`,
    );
    for (const { name, oid } of tables) {
      const { rows } = await db.pool.query<{ id: string; version: number }>(
        `select id, version::int from ${name}`,
      );
      for (const { id, version } of rows) {
        const key = `${oid} ${id}`;
        expect(version, `version of the inline model ${id}`).toBeGreaterThanOrEqual(this.#seen.get(key) ?? 0);
        this.#seen.set(key, version);
      }
    }
  }
}

/** At any time: the bookmarks of every perspective cover each partition once. */
export async function judgeBookmarks(db: TestDatabase): Promise<void> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select p.name from wh_perspectives p left join wh_perspective_bookmarks b on b.name = p.name group by p.name, p.cuts
     having range_agg(int4range(b.from_partition, b.to_partition, '[]')) is distinct from '{[0,10000)}'
         or sum(b.to_partition - b.from_partition + 1) is distinct from 10000
         or array_agg(b.from_partition order by b.from_partition) is distinct from p.cuts`,
  );
  expect(rows, 'bookmarks that are no partition').toEqual([]);
}
