// Ticks that maintenance merges: the order of all events, and every position in it, stay as they are.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { append, makeTick, Reader, ticks } from '../support/ticks.js';
import { it } from '../support/work.js';

const merge = (db: TestDatabase) =>
  db.pool.query('select wh_merge_ticks(0, (select max(tick) from wh_event_ticks))');

/** All numbers as a reader gets them that begins now. */
async function order(db: TestDatabase): Promise<number[]> {
  const reader = new Reader(db.pool);
  while (await reader.read()) {}
  return reader.numbers;
}

describe('wh_merge_ticks', () => {
  it('a reader whose place is in a tick that was merged reads on behind it', async ({ db }) => {
    const numbers: number[] = [];
    for (let i = 0; i < 4; i++) {
      numbers.push(...(await append(db.pool)));
      await makeTick(db.pool);
    }
    const reader = new Reader(db.pool, undefined, undefined, 1);
    await reader.read();
    await merge(db);
    expect(await ticks(db)).toHaveLength(1);
    while (await reader.read()) {}
    expect(reader.numbers).toEqual(numbers);
  });

  it('a tick with a lower number than the one before is not merged with it', async ({ db }) => {
    const writer = await begin(db);
    const [late] = await append(writer.client);
    const [early] = await append(db.pool);
    await makeTick(db.pool);
    await writer.query('commit');
    await makeTick(db.pool);
    const [last] = await append(db.pool);
    await makeTick(db.pool);
    const before = await order(db);
    expect(before).toEqual([early, late, last]);
    await merge(db);
    expect(await order(db)).toEqual(before);
  });
});
