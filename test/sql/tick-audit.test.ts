// The audit finds what ticks have missed, however they came to miss it, and seals it. Ticks are broken here on purpose.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  append,
  appendMany,
  audit,
  faultless,
  judge,
  makeTick,
  newest,
  Reader,
  wholeOrder,
} from '../support/ticks.js';
import { it } from '../support/work.js';

const text = embeddedSql.functions.find(({ name }) => name === 'wh_tick')?.text ?? '';

/** Runs the work while wh_tick has another text. */
async function withTick(
  db: TestDatabase,
  from: string,
  to: string,
  work: () => Promise<void>,
): Promise<void> {
  expect(text).toContain(from);
  const install = (sql: string) =>
    db.pool.query(`begin; set local search_path = whizbang, pg_temp; ${sql}; commit`);
  await install(text.replaceAll(from, to));
  try {
    await work();
  } finally {
    await install(text);
  }
}

describe('wh_audit_ticks', () => {
  it('the audit finds nothing where ticks are right, beside open transactions and after they end', async ({
    db,
  }) => {
    const open = await begin(db);
    await append(open.client);
    for (let round = 0; round < 5; round++) {
      await append(db.pool);
      expect(await audit(db.pool)).toEqual([]);
    }
    await open.query('commit');
    for (let round = 0; round < 3; round++) expect(await audit(db.pool)).toEqual([]);
    expect(await judge(db)).toEqual({ ...faultless, events: 6 });
  });

  it('the audit finds a number that a tick has lost, seals it and warns', async ({ db }) => {
    const numbers = [...(await append(db.pool)), ...(await append(db.pool)), ...(await append(db.pool))];
    const reader = new Reader(db.pool);
    await makeTick(db.pool);
    await db.pool.query('update wh_event_ticks set covers = covers - int8multirange(int8range($1, $1, $2))', [
      numbers[1],
      '[]',
    ]);
    expect(await reader.readAll()).toEqual([numbers[0], numbers[2]]);
    const auditor = await db.connect();
    const warnings: string[] = [];
    auditor.on('notice', ({ message }) => warnings.push(message ?? ''));
    expect(await audit(auditor)).toEqual([numbers[1]]);
    expect(warnings).toEqual([`whizbang: 1 events were found late, from number ${numbers[1]} on`]);
    const { rows } = await db.pool.query('select is_late, events from wh_event_ticks order by tick');
    expect(rows).toEqual([
      { is_late: false, events: 3 },
      { is_late: true, events: 1 },
    ]);
    expect(await reader.readAll()).toEqual([numbers[0], numbers[2], numbers[1]]);
    expect(await audit(db.pool)).toEqual([]);
    expect(await judge(db)).toEqual({ ...faultless, events: 3 });
  });

  it.for([
    ['do not see who is open', 'v_open := array(', `v_open := '{}'; perform array(`],
    ['are never made', 'v_snapshot := pg_current_snapshot();', 'return l.tick;'],
    ['forget who was open before', 'from unnest(l.open)', `from unnest('{}'::xid8[])`],
    [
      'pass by every second transaction',
      'x.transaction_id > span.above',
      'x.transaction_id::text::bigint % 2 = 0 and x.transaction_id > span.above',
    ],
  ] as const)('the audit delivers every event when ticks %s', async ([, from, to], { db }) => {
    await append(db.pool);
    await makeTick(db.pool);
    const reader = new Reader(db.pool);
    const late: number[] = [];
    await withTick(db, from, to, async () => {
      for (let round = 0; round < 8; round++) {
        const open = await begin(db);
        await append(open.client);
        await append(db.pool);
        await makeTick(db.pool);
        await open.query('commit');
        await append(db.pool);
        await makeTick(db.pool);
        if (round % 3 === 2) late.push(...(await audit(db.pool)));
      }
      // What ended beside an older transaction, of this or another test, is found when that one has ended.
      await eventually(async () => {
        late.push(...(await audit(db.pool)));
        expect(await judge(db)).toMatchObject({ missing: 0 });
      });
    });
    expect(late.length).toBeGreaterThan(0);
    expect(await judge(db)).toMatchObject({ missing: 0, twice: 0, strange: 0, events: 25 });
    expect((await reader.readAll()).sort((a, b) => a - b)).toEqual(
      (await wholeOrder(db)).sort((a, b) => a - b),
    );
    // A tick that is right again seals none of them a second time.
    await append(db.pool);
    await makeTick(db.pool);
    expect(await judge(db)).toMatchObject({ missing: 0, twice: 0, events: 26 });
  });

  it('the audit finds a row that was copied in with the transaction id of another cluster, once', async ({
    db,
  }) => {
    await append(db.pool);
    await makeTick(db.pool);
    const ids = await db.pool.query(`select pg_current_xact_id()::text::bigint as now`);
    for (const ahead of [-100, 20, 1_000_000]) {
      await db.pool.query(
        `insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data, transaction_id)
         values ($1, $1, 1, 'Copied', 'Order', '{}', $2::text::xid8)`,
        [randomUUID(), Math.max(1, Number(ids.rows[0].now) + ahead)],
      );
    }
    await audit(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 4 });
    for (let i = 0; i < 40; i++) await append(db.pool);
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 44 });
  });

  it('the audit passes numbers only when all transactions of their time have ended', async ({ db }) => {
    const passed = async () =>
      (await db.pool.query('select audited_high::int from wh_event_audit')).rows[0].audited_high;
    const open = await begin(db);
    await open.query('select pg_current_xact_id()');
    const [first = 0] = await append(db.pool);
    for (let round = 0; round < 3; round++) await audit(db.pool);
    expect(await passed()).toBe(0);
    await open.query('rollback');
    await append(db.pool);
    await auditUntilPassed(db, first);
  });

  it('the audit begins anew when the tables were emptied', async ({ db }) => {
    for (let round = 0; round < 4; round++) {
      await append(db.pool);
      await audit(db.pool);
    }
    await db.pool.query('truncate wh_event_store, wh_event_streams, wh_event_ticks');
    const numbers = await append(db.pool);
    expect(await audit(db.pool)).toEqual([]);
    expect(await newest(db)).toEqual(numbers);
  });

  it('the audit does nothing while another session makes a tick', async ({ db }) => {
    const ticker = await begin(db);
    await makeTick(ticker.client);
    expect(await audit(db.pool)).toEqual([]);
  });
});

/** Other tests on this server have transactions open too. */
async function auditUntilPassed(db: TestDatabase, number: number): Promise<void> {
  await eventually(async () => {
    await audit(db.pool);
    const { rows } = await db.pool.query('select audited_high::int from wh_event_audit');
    expect(rows[0].audited_high).toBeGreaterThanOrEqual(number);
  });
}

describe('Merged ticks', () => {
  /** Ticks of single events, some of which end late; audited until all that can be merged is. */
  const manyTicks = async (db: TestDatabase) => {
    for (let round = 0; round < 30; round++) {
      const open = round % 10 === 5 ? await begin(db) : undefined;
      if (open) await append(open.client);
      await append(db.pool);
      await makeTick(db.pool);
      await open?.query('commit');
    }
    await appendMany(db.pool, 1_500);
    await append(db.pool);
    await makeTick(db.pool);
  };

  it('merged ticks keep the order of all events, and every position in it', async ({ db }) => {
    await manyTicks(db);
    const order = await wholeOrder(db);
    const positions = [];
    const reader = new Reader(db.pool, undefined, undefined, 1);
    for (let i = 0; i < 40 && (await reader.read()); i++) positions.push(reader.position);
    const before = (await db.pool.query('select from wh_event_ticks')).rowCount ?? 0;
    await append(db.pool);
    await makeTick(db.pool);
    await auditUntilPassed(db, order.at(-1) ?? 0);
    await audit(db.pool);
    const after = (await db.pool.query('select from wh_event_ticks')).rowCount ?? 0;
    expect(after).toBeLessThan(before / 2);
    expect((await wholeOrder(db)).slice(0, order.length)).toEqual(order);
    expect(await judge(db)).toMatchObject({ ...faultless, events: order.length + 1 });
    for (const [i, position] of positions.entries()) {
      const rest = await new Reader(db.pool, position, undefined, 5_000).readAll();
      expect(rest.slice(0, order.length - i - 1)).toEqual(order.slice(i + 1));
    }
  });
});
