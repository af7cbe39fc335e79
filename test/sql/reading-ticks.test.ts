// Events are read in the order of all events, behind a position. What a read costs follows what it looks at.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { append, appendMany, makeTick, Reader, wholeOrder } from '../support/ticks.js';
import { it } from '../support/work.js';

const read = async (db: TestDatabase, ...parameters: unknown[]) =>
  (await db.pool.query('select * from wh_read_events($1, $2, $3, $4)', parameters)).rows;

/** Pages that a read touches, in all statements of the function. */
async function pagesOf(db: TestDatabase, call: string): Promise<number> {
  const explained = `explain (analyze, buffers, format json) select * from ${call}`;
  const client = await db.connect();
  await client.query(explained); // so that the plans are made, and only the work is counted
  // Autovacuum may analyze the tables meanwhile: then the plans are made again, which reads the catalogue.
  const pages: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { rows } = await client.query(explained);
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  }
  await client.end();
  return Math.min(...pages);
}

describe('wh_read_events', () => {
  it('a read returns events whole, and nothing that is in no tick yet', async ({ db }) => {
    await append(db.pool);
    await makeTick(db.pool);
    await append(db.pool);
    const stored = await db.pool.query('select * from wh_event_store order by sequence_number limit 1');
    const { transaction_id, ...event } = stored.rows[0];
    expect(await read(db, 0, 0, null, 10)).toEqual([{ tick: '1', ...event }]);
  });

  it('a read returns an event that was committed late behind those that were sealed before it', async ({
    db,
  }) => {
    const late = await begin(db);
    const [low] = await append(late.client);
    const [high] = await append(db.pool);
    await makeTick(db.pool);
    await late.query('commit');
    await makeTick(db.pool);
    expect(await new Reader(db.pool).readAll()).toEqual([high, low]);
  });

  it.for([1, 7, 1_000, 5_000])(
    'a reader in steps of %i gets each event once, in order',
    async (limit, { db }) => {
      for (let i = 0; i < 10; i++) await append(db.pool).then(() => makeTick(db.pool));
      await appendMany(db.pool, 1_300);
      await makeTick(db.pool);
      const reader = new Reader(db.pool, undefined, undefined, limit);
      expect(await reader.readAll()).toEqual(await wholeOrder(db));
      expect(reader.numbers).toHaveLength(1_310);
    },
  );

  it('a reader catches up with 10 001 events in steps of 1 000', async ({ db }) => {
    await appendMany(db.pool, 10_001);
    await makeTick(db.pool);
    const reader = new Reader(db.pool, undefined, undefined, 1_000);
    expect((await reader.readAll()).length).toBe(10_001);
    expect(reader.reads).toBe(12);
  });

  it('a read returns only events of the types that it names', async ({ db }) => {
    const numbers: number[] = [];
    for (const type of ['A', 'B', 'C', 'A', 'B']) numbers.push(...(await append(db.pool, undefined, type)));
    await makeTick(db.pool);
    expect(await new Reader(db.pool, undefined, ['A', 'C']).readAll()).toEqual(
      [0, 2, 3].map((i) => numbers[i]),
    );
    expect(await new Reader(db.pool, undefined, []).readAll()).toEqual([]);
  });

  it('a read moves the position when nothing matches, also within a tick', async ({ db }) => {
    await append(db.pool, undefined, 'A');
    const [last] = await append(db.pool, undefined, 'B');
    await makeTick(db.pool);
    const moved = { tick: '1', sequence_number: String(last), event_id: null };
    expect(await read(db, 0, 0, ['C'], 10)).toMatchObject([moved]);
    expect(await read(db, 0, 0, ['A'], 10)).toMatchObject([{ event_type: 'A' }, moved]);
    expect(await read(db, 1, last, ['C'], 10)).toEqual([]);
  });

  it('a read looks at about 20 000 events, and then returns how far it has come', async ({ db }) => {
    await append(db.pool, undefined, 'Rare');
    await appendMany(db.pool, 30_000, 'Common');
    await makeTick(db.pool);
    await db.pool.query(`update wh_event_ticks set types = types || '{Rare}'`);
    const reader = new Reader(db.pool, undefined, ['Rare']);
    expect(await reader.read()).toBe(true);
    expect(reader.numbers).toHaveLength(1);
    expect(reader.position.tick).toBe(20);
    await reader.readAll();
    expect(reader.reads).toBe(3);
  });

  it('a read passes by ticks without its types, and does not read their events', async ({ db }) => {
    await appendMany(db.pool, 30_000, 'Common');
    await append(db.pool, undefined, 'Rare');
    await makeTick(db.pool);
    await db.pool.query('vacuum analyze wh_event_store, wh_event_ticks');
    const reader = new Reader(db.pool, undefined, ['Rare']);
    expect(await reader.readAll()).toHaveLength(1);
    expect(reader.reads).toBe(2);
    // The events are on more than 400 pages.
    expect(await pagesOf(db, `wh_read_events(0, 0, '{Rare}')`)).toBeLessThan(60);
  });

  it('a read stops when it has enough, whatever the statistics say', async ({ db }) => {
    await appendMany(db.pool, 20_000);
    await makeTick(db.pool);
    for (const prepare of ['select', 'vacuum analyze wh_event_store, wh_event_ticks']) {
      await db.pool.query(prepare);
      expect(await pagesOf(db, 'wh_read_events(3, 0, null, 10)')).toBeLessThan(60);
    }
  });

  it('a read at the end of the store touches fewer than ten pages', async ({ db }) => {
    await appendMany(db.pool, 20_000);
    await makeTick(db.pool);
    const reader = new Reader(db.pool, undefined, undefined, 20_000);
    await reader.readAll();
    const { tick, sequenceNumber } = reader.position;
    expect(await pagesOf(db, `wh_read_events(${tick}, ${sequenceNumber})`)).toBeLessThan(10);
  });

  it.for([
    ['p_after_tick', [null, 0, null, 1]],
    ['p_after_number', [0, null, null, 1]],
    ['p_limit', [0, 0, null, 0]],
    ['p_limit', [0, 0, null, null]],
  ] as const)('a read without a valid %s is refused', async ([column, parameters], { db }) => {
    await expect(read(db, ...parameters)).rejects.toMatchObject({ code: 'WB001', column });
  });
});
