// Queue tables swing between empty and huge while statistics lag behind. Whatever they say, a call reads about as much
// as it hands out, stores or is told, never a table, never a whole index.
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';
import { type Instance, instance, lanes, message, outbox } from '../support/work.js';
import { analyze, backlogTables, emptyBacklog, fillBacklog, truncateBacklog } from './support/backlog.js';
import { type Captured, capture, type Scan } from './support/captured-plans.js';
import { batch, calls } from './support/measured-calls.js';

/** A row per item, twice over, and the window of 200 in which admission looks for plain inserts. */
const mostRows = 4 * batch + 200;
/** A row per instance, a row per lane, a sequence: whole is how they are read. */
const small = /^wh_service_instances$|^wh_lanes$|^wh_admission$|^wh_perspectives$|_seq$/;

let db: TestDatabase;
let client: pg.Client;
let a: Instance;
/** The first column of each index. */
let leadingColumns: Map<string, string>;

beforeAll(async () => {
  db = await createDatabaseOnOwnServer();
  await connect();
  const { rows } = await db.pool.query<{ index: string; leading: string }>(
    `select indexrelid::regclass::text as index, attname as leading
     from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
     where indrelid::regclass::text like 'wh\\_%'`,
  );
  leadingColumns = new Map(rows.map(({ index, leading }) => [index, leading]));
  for (const table of backlogTables) {
    await db.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
});
afterAll(() => db.drop());

/** A new connection has no plans. */
async function connect(): Promise<void> {
  client = await db.connect();
  a = instance(db, 'a').over(client).with({ p_max_outbox_items: 0, p_max_inbox_items: 0 });
}

/** Pages that each call touched while the tables were empty. */
const pagesWhenEmpty = new Map<string, number>();

function expectNarrow({ scans, pages }: Captured, name: string): void {
  expect(scans.filter((scan) => !small.test(scan.table) && isWide(scan))).toEqual([]);
  // Deeper indexes cost a few pages per row; a table or a whole index of the backlog has hundreds.
  const most = 8 * (pagesWhenEmpty.get(name) ?? pages) + 10 * batch;
  expect(pages).toBeLessThan(most);
  if (!pagesWhenEmpty.has(name)) pagesWhenEmpty.set(name, pages);
}

/** On small tables a whole index reads few rows too; but the plan stays when they grow. */
function isWide({ index, searchedBy, rowsRead }: Scan): boolean {
  const leading = leadingColumns.get(index ?? '');
  return rowsRead > mostRows || leading === undefined || !searchedBy?.includes(leading);
}

/** As they do four times a second: what a move reads depends on what has come since the last. */
async function moveFloors(): Promise<void> {
  await db.pool.query(`update wh_lanes set moved_at = '-infinity'`);
  await a.call(outbox.renews([message()]));
}

/** Admits what the calls of the state before have left: it would be work of the first calls of this one. */
async function admitTheRest(): Promise<void> {
  for (const lane of lanes) {
    for (let i = 0; i < 10; i++) await a.call(lane.releases(await a.call(lane.room(batch))));
  }
}

interface State {
  name: string;
  empty: boolean;
  prepare: () => Promise<void>;
}

/**
 * One after the other, on one connection until a state takes a new one: the plans that it keeps are part of the state. So are
 * the statistics of columns. To analyze an empty table changes none: those of the past remain, and they hide wrong choices, so
 * the states that know of no past come before the first that analyzes a backlog.
 */
const states: State[] = [
  { name: 'With empty tables that were never analyzed', empty: true, prepare: () => emptyBacklog(db) },
  {
    name: 'With a backlog that was never analyzed and came after the plans were made',
    empty: false,
    prepare: () => fillBacklog(db),
  },
  {
    name: 'With empty tables that were analyzed only while empty, on a new connection',
    empty: true,
    prepare: async () => {
      await truncateBacklog(db);
      await analyze(db);
      await connect();
    },
  },
  {
    name: 'With a backlog that came after the plans were made, in tables that were analyzed only while empty',
    empty: false,
    prepare: () => fillBacklog(db),
  },
  {
    name: 'With a backlog in tables that were analyzed only while empty, on a new connection',
    empty: false,
    prepare: async () => {
      await admitTheRest();
      await connect();
    },
  },
  {
    name: 'With a backlog and fresh statistics',
    empty: false,
    prepare: async () => {
      await admitTheRest();
      await analyze(db);
    },
  },
  {
    name: 'With empty tables and the statistics of a backlog',
    empty: true,
    prepare: () => truncateBacklog(db),
  },
  {
    name: 'With empty tables and fresh statistics',
    empty: true,
    prepare: async () => {
      await truncateBacklog(db);
      await analyze(db);
    },
  },
  {
    name: 'With a backlog that came after the plans were made, and the statistics of empty tables',
    empty: false,
    prepare: () => fillBacklog(db),
  },
];

describe.each(states.map((state) => [state.name, state] as const))('%s', (_, { empty, prepare }) => {
  beforeAll(prepare);
  beforeEach(async () => {
    if (empty) await emptyBacklog(db);
  });

  describe.each(lanes)('in the %s', (lane) => {
    it.each(calls)('a call %s reads no more than it works on', async (name, parameters) => {
      // Once before, so that the plans are made and only the work is counted.
      await a.call(...(await parameters(lane, a, db)));
      await moveFloors();
      const parts = await parameters(lane, a, db);
      expectNarrow(await capture(client, () => a.call(...parts)), `${name} ${lane}`);
    });
  });
});
