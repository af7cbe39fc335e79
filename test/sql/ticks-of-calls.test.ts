// Ticks that calls make for their perspectives: they look for less than wh_tick, and seal the same.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { append, newest, ticks } from '../support/ticks.js';
import { it } from '../support/work.js';
import { instance } from '../support/work-fixtures.js';

/** A call that has code for a perspective: it makes a tick, and finds nothing to do. */
async function call(db: TestDatabase): Promise<void> {
  expect(await instance(db, 'a').call({ p_perspectives: ['none@1'] })).toEqual([]);
}

describe('the tick of a call', () => {
  it('a call seals what was committed since the last tick', async ({ db }) => {
    const first = await append(db.pool);
    await call(db);
    await call(db);
    const second = await append(db.pool);
    await call(db);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([first, second]);
  });

  it('a call seals what another transaction had open at the last tick', async ({ db }) => {
    await append(db.pool);
    await call(db);
    const writer = await begin(db);
    const early = await append(writer.client);
    const late = await append(db.pool);
    await call(db);
    expect(await newest(db)).toEqual(late);
    await writer.query('commit');
    await call(db);
    expect(await newest(db)).toEqual(early);
  });

  it('a call seals what is committed beside a transaction that stays open', async ({ db }) => {
    await append(db.pool);
    await call(db);
    const writer = await begin(db);
    await append(writer.client);
    await call(db);
    const committed = await append(db.pool);
    await call(db);
    expect(await newest(db)).toEqual(committed);
    await writer.query('rollback');
    await call(db);
    expect(await newest(db)).toEqual(committed);
  });

  it('a call begins anew behind a tick whose ids this cluster does not have yet', async ({ db }) => {
    await append(db.pool);
    await call(db);
    await db.pool.query(`update wh_event_ticks set next_xid = '9000000000000000'`);
    const restored = await append(db.pool);
    await call(db);
    expect(await newest(db)).toEqual(restored);
  });
});
