// A store that was dumped and restored into another cluster, where transaction ids are others: ticks go on, and every
// event is in one of them. A dump is what one snapshot sees of the tables, and the sequence.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  append,
  appendMany,
  audit,
  faultless,
  judge,
  makeTick,
  Reader,
  wholeOrder,
} from '../support/ticks.js';
import { it } from '../support/work.js';

const tables = ['wh_event_streams', 'wh_event_store', 'wh_event_ticks', 'wh_event_audit'];
const shifted = (column: string) => `(${column}::text::bigint + $1)::text::xid8`;

/** Restores a dump of a cluster whose transaction ids are higher by `shift`. */
async function restore(from: TestDatabase, to: TestDatabase, shift: number, only = tables): Promise<void> {
  for (const table of only) {
    const { rows } = await from.pool.query(
      `select coalesce(json_agg(t), '[]')::text as rows from ${table} t`,
    );
    await to.pool.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      rows[0].rows,
    ]);
  }
  await to.pool.query(`update wh_event_store set transaction_id = ${shifted('transaction_id')}`, [shift]);
  await to.pool.query(
    `update wh_event_ticks set next_xid = ${shifted('next_xid')}, open = array(select ${shifted('o')} from unnest(open) o)`,
    [shift],
  );
  await to.pool.query(`update wh_event_audit set horizon = ${shifted('horizon')}`, [shift]);
  const { rows } = await from.pool.query('select last_value from wh_event_sequence');
  await to.pool.query(`select setval('wh_event_sequence', $1)`, [rows[0].last_value]);
}

/** A store with ticks, with an event that was open at the last tick, and with one that came after it. */
async function fillStore(db: TestDatabase): Promise<void> {
  await appendMany(db.pool, 1_100);
  await makeTick(db.pool);
  const open = await begin(db);
  await append(open.client);
  await append(db.pool);
  await makeTick(db.pool);
  await audit(db.pool);
  await append(db.pool);
  await open.query('commit');
}

/** Uses up transaction ids. */
async function passIds(db: TestDatabase, count: number): Promise<void> {
  const client = await db.connect();
  for (let i = 0; i < count; i++) await client.query('select pg_current_xact_id()');
  await client.end();
}

describe.for([
  ['a cluster with much higher transaction ids', 1_000_000],
  ['a cluster with slightly higher transaction ids', 300],
  ['a cluster with lower transaction ids', -500],
] as const)('A store restored from %s', ([, shift]) => {
  it('a restored store has every event in one tick, while its cluster passes the ids of the dump', async ({
    db,
  }) => {
    await fillStore(db);
    await using there = await createTestDatabase();
    await restore(db, there, shift);
    const reader = new Reader(there.pool);
    await reader.readAll();
    const open = await begin(there);
    await append(open.client);
    await append(there.pool);
    await makeTick(there.pool);
    expect(await judge(there)).toEqual({ ...faultless, events: 1_104 });
    for (let round = 0; round < 6; round++) {
      await append(there.pool);
      await passIds(there, 100);
      await makeTick(there.pool);
      expect(await judge(there)).toEqual({ ...faultless, events: 1_105 + round });
      expect(await audit(there.pool)).toEqual([]);
    }
    await open.query('commit');
    await makeTick(there.pool);
    expect(await judge(there)).toEqual({ ...faultless, events: 1_111 });
    // Who had read before the dump goes on at its position.
    expect(await reader.readAll()).toEqual(await wholeOrder(there));
  });

  it('a restored store has every event in one tick when the ticks were not in the dump', async ({ db }) => {
    await fillStore(db);
    await using there = await createTestDatabase();
    await restore(db, there, shift, tables.slice(0, 2));
    await makeTick(there.pool);
    expect(await judge(there)).toEqual({ ...faultless, events: 1_103 });
    for (let round = 0; round < 5; round++) {
      await passIds(there, 120);
      await append(there.pool);
      await makeTick(there.pool);
    }
    expect(await judge(there)).toEqual({ ...faultless, events: 1_108 });
    expect(await audit(there.pool)).toEqual([]);
  });

  it('a restored store can be dumped and restored a second time', async ({ db }) => {
    await fillStore(db);
    await using there = await createTestDatabase();
    await using then = await createTestDatabase();
    await restore(db, there, shift);
    await makeTick(there.pool);
    await append(there.pool);
    await restore(there, then, 2_000);
    await append(then.pool);
    await makeTick(then.pool);
    expect(await judge(then)).toEqual({ ...faultless, events: 1_105 });
  });
});

describe('A store that was restored', () => {
  it('the audit finds what a restored store got before its first tick, when the dumped ids are passed', async ({
    db,
  }) => {
    await fillStore(db);
    await using there = await createTestDatabase();
    await restore(db, there, 400);
    // Nobody ticks. The ids of these events are below those of the dump, and that is not to be seen any more later.
    const unseen = await append(there.pool);
    await passIds(there, 800);
    await append(there.pool);
    await makeTick(there.pool);
    expect(await judge(there)).toMatchObject({ missing: 1 });
    expect(await audit(there.pool)).toEqual(unseen);
    expect(await judge(there)).toEqual({ ...faultless, events: 1_105 });
  });
});
