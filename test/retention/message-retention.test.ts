// After so many days ids are forgotten and dead letters deleted: a few at a time, by one instance at a time.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createWhizbang } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** An id that was seen so many days ago. */
async function seen(db: TestDatabase, days: number): Promise<string> {
  const id = randomUUID();
  await db.pool.query(
    `insert into wh_message_deduplication values ($1, clock_timestamp() - make_interval(days => $2))`,
    [id, days],
  );
  return id;
}

/** A dead letter that died so many days ago. */
async function died(db: TestDatabase, days: number, id: string = randomUUID()): Promise<string> {
  await db.pool.query(
    `insert into wh_dead_letters (source, message_id, destination, event_type, event_data, is_event, status, flags,
       sequence_order, attempts, stored_at, died_at)
     values ('inbox', $1, 'X', 'X', '1', false, 1, 0, 1, 1, now(), clock_timestamp() - make_interval(days => $2))`,
    [id, days],
  );
  return id;
}

async function idsIn(db: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(`select message_id as id from ${table} order by 1`);
  return rows.map(({ id }) => id);
}

/** Goes through all ids once. Returns the ids that each step has forgotten. */
async function pass(db: TestDatabase, days: number): Promise<number[]> {
  const steps: number[] = [];
  do {
    await db.pool.query(`update wh_retention set rests_until = '-infinity'`);
    const { rows } = await db.pool.query<{ ids: number }>(
      `select (wh_expire($1, null) ->> 'ids')::int as ids`,
      [days],
    );
    steps.push(rows[0]?.ids as number);
  } while ((await db.pool.query('select 1 from wh_retention where next_block > 0')).rowCount !== 0);
  return steps;
}

describe.concurrent('Retention of messages', () => {
  it('an instance forgets ids and deletes dead letters after their days, and no others', async () => {
    await using db = await createTestDatabase();
    const [, young] = [await seen(db, 91), await seen(db, 89)];
    const [, fresh] = [await died(db, 366), await died(db, 364)];
    await using shop = service(db, { retention: { deduplicationDays: 90, deadLetterDays: 365 } });
    await shop.start();
    await eventually(async () => {
      expect(await idsIn(db, 'wh_message_deduplication')).toEqual([young]);
      expect(await idsIn(db, 'wh_dead_letters')).toEqual([fresh]);
    });
  });

  it('what operators did is deleted after two years where anything is deleted, or after its own days', async () => {
    for (const [retention, kept] of [
      [{ deadLetterDays: 365 }, ['729', '1']],
      [{ operationDays: 90 }, ['1']],
    ] as const) {
      await using db = await createTestDatabase();
      await db.pool.query(
        `insert into wh_operations (at, who, operation, target)
         select clock_timestamp() - make_interval(days => d), 'ann', 'pause', d::text from unnest(array[731, 729, 1]) d`,
      );
      await using shop = service(db, { retention });
      await shop.start();
      await eventually(async () => {
        const { rows } = await db.pool.query('select target from wh_operations order by id');
        expect(rows.map(({ target }) => target)).toEqual(kept);
      });
    }
  });

  it('an instance without retention keeps everything for ever', async () => {
    await using db = await createTestDatabase();
    await seen(db, 9_000);
    await died(db, 9_000);
    await using shop = service(db, { retention: { events: [] } });
    await shop.start();
    await db.pool.query('select wh_expire(null, null)');
    expect(await idsIn(db, 'wh_message_deduplication')).toHaveLength(1);
    expect(await idsIn(db, 'wh_dead_letters')).toHaveLength(1);
  });

  it('the id of a message that waits or is dead stays; records of receptors go with their ids', async () => {
    await using db = await createTestDatabase();
    const waiting = await seen(db, 100);
    const dead = await died(db, 100, await seen(db, 100));
    const handled = await seen(db, 100);
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data) values ($1, 'X', 'X', '1')`,
      [waiting],
    );
    await db.pool.query(
      `insert into wh_receptor_processing (event_id, receptor_name, status) select unnest($1::uuid[]), 'mail', 8`,
      [[waiting, dead, handled]],
    );
    expect(await pass(db, 90)).toEqual([1]);
    expect(await idsIn(db, 'wh_message_deduplication')).toEqual([waiting, dead].toSorted());
    const { rows } = await db.pool.query('select event_id as id from wh_receptor_processing order by 1');
    expect(rows.map(({ id }) => id)).toEqual([waiting, dead].toSorted());
  });

  it('a pass through many ids finds all old ones in steps of a few thousand, and reads only their blocks', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`insert into wh_message_deduplication
      select gen_random_uuid(), now() - make_interval(days => i % 2 * 100) from generate_series(1, 20000) i`);
    const steps = await pass(db, 90);
    expect(steps.length).toBeGreaterThan(2);
    expect(Math.max(...steps)).toBeLessThan(5_000);
    expect(steps.reduce((sum, each) => sum + each, 0)).toBe(10_000);
    expect(await pass(db, 90)).toEqual(steps.map(() => 0));
    const { rows } = await db.pool.query(
      `explain select message_id from wh_message_deduplication where ctid >= '(0,0)'::tid and ctid < '(32,0)'::tid`,
    );
    expect(rows[0]).toEqual({ 'QUERY PLAN': expect.stringContaining('Tid Range Scan') });
  });

  it('a step is done by one instance at a time, and not more often than once a second', async () => {
    await using db = await createTestDatabase();
    await seen(db, 100);
    const first = await db.pool.connect();
    await first.query('begin');
    expect((await first.query('select wh_expire(90, null) as step')).rows).toEqual([
      { step: { ids: 1, dead_letters: 0, operations: 0 } },
    ]);
    expect((await db.pool.query('select wh_expire(90, null) as step')).rows).toEqual([{ step: null }]);
    await first.query('commit');
    first.release();
    expect((await db.pool.query('select wh_expire(90, null) as step')).rows).toEqual([{ step: null }]);
  });

  it('an option of retention that is unknown or no number of days is refused', () => {
    const create = (retention: unknown) => () =>
      createWhizbang({
        service: 'shop',
        connectionString: 'postgres://x@localhost/x',
        retention: retention as never,
      });
    expect(create({ deduplicationDay: 9 })).toThrow('there is no option deduplicationDay');
    expect(create({ deadLetterDays: 0 })).toThrow(/deadLetterDays/);
    expect(create(90)).toThrow('retention is not an object');
  });
});
