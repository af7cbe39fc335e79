// The judge of a schedule of perspectives: what every model has to be follows from the events alone.
import { expect } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { faultless, judge } from '../../support/ticks.js';

interface EventOfStore {
  readonly event_id: string;
  readonly stream_id: string;
  readonly version: number;
  readonly event_type: string;
  readonly event_data: { readonly label: string; readonly keys: readonly string[] };
}

/** All events in (tick, sequence_number). */
async function eventsOf(db: TestDatabase): Promise<EventOfStore[]> {
  const { rows } = await db.pool.query<EventOfStore>(
    `select e.event_id, e.stream_id, e.version::int, e.event_type, e.event_data
     from wh_event_store e join wh_event_ticks t on t.covers @> e.sequence_number
     order by t.tick, e.sequence_number`,
  );
  return rows;
}

type Models = Record<string, { version: number; labels: readonly string[] }>;

function ofStreams(events: readonly EventOfStore[]): Models {
  const models: Models = {};
  for (const { stream_id, version, event_type, event_data } of events) {
    const before = event_type === 'Begun' ? [] : (models[stream_id]?.labels ?? []);
    if (event_type === 'Ended') delete models[stream_id];
    else models[stream_id] = { version, labels: [...before, event_data.label] };
  }
  return models;
}

function ofKeys(events: readonly EventOfStore[]): Models {
  const models: Models = {};
  for (const { event_type, event_data } of events) {
    if (event_type === 'Ended') continue;
    for (const key of event_data.keys) {
      const before = models[key]?.labels ?? [];
      models[key] = { version: before.length + 1, labels: [...before, event_data.label] };
    }
  }
  return models;
}

async function modelsIn(db: TestDatabase, view: string): Promise<Models> {
  const { rows } = await db.pool.query<{ id: string; version: number; labels: string[] }>(
    `select id::text, version::int, data -> 'labels' as labels from ${view}`,
  );
  return Object.fromEntries(rows.map(({ id, version, labels }) => [id, { version, labels }]));
}

/** An event whose keys could not be known for a while comes late: then only the order is another one. */
const inAnyOrder = (models: Models): Models =>
  Object.fromEntries(
    Object.entries(models).map(([key, { version, labels }]) => [key, { version, labels: labels.toSorted() }]),
  );

/** When all is quiet: every model is what its events amount to, and every event has had its effect once. */
export async function judgeModels(db: TestDatabase, names: readonly string[]): Promise<void> {
  expect(await judge(db)).toMatchObject(faultless);
  const events = await eventsOf(db);
  const versions = groups(events.map(({ stream_id, version }) => [stream_id, version]));
  for (const [id, numbers] of Object.entries(versions)) {
    expect(numbers, `versions of ${id}`).toEqual(numbers.map((_, i) => i + 1));
  }
  for (const name of names) {
    if (name === 'custom') await judgeApplied(db, events);
    else if (name === 'loose')
      expect(inAnyOrder(await modelsIn(db, name)), name).toEqual(inAnyOrder(ofKeys(events)));
    else
      expect(await modelsIn(db, name), name).toEqual(name === 'keyed' ? ofKeys(events) : ofStreams(events));
  }
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
async function judgeApplied(db: TestDatabase, events: readonly EventOfStore[]): Promise<void> {
  const { rows } = await db.pool.query<{ event_id: string }>('select event_id from applied order by id');
  const wanted = events.filter(({ event_type }) => event_type !== 'Ended');
  const streams = new Map(wanted.map(({ event_id, stream_id }) => [event_id, stream_id]));
  const byStream = (ids: readonly string[]) => groups(ids.map((id) => [streams.get(id) ?? '?', id]));
  expect(byStream(rows.map(({ event_id }) => event_id)), 'custom').toEqual(
    byStream(wanted.map(({ event_id }) => event_id)),
  );
}

/** At any time: no model of an inline perspective goes back behind what an append has stored. */
export class InlineVersions {
  readonly #seen = new Map<string, number>();

  async judge(db: TestDatabase): Promise<void> {
    const { rows } = await db.pool.query<{ id: string; version: number }>(
      'select id, version::int from inline_v1',
    );
    for (const { id, version } of rows) {
      expect(version, `version of the inline model ${id}`).toBeGreaterThanOrEqual(this.#seen.get(id) ?? 0);
      this.#seen.set(id, version);
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
