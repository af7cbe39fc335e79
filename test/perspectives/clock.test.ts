import { describe, expect, it } from 'vitest';
import { setClockBack } from '../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Instance, message, outbox } from '../support/work.js';

const facts = {
  name: 'orders',
  version: 1,
  kind: 'stream',
  event_types: ['Placed'],
  fingerprint: 'x',
};

/** Registers a perspective and has its bookmark leased to an instance, for a second. */
async function leased(db: TestDatabase, instance: Instance): Promise<void> {
  await db.pool.query('select wh_register_perspective($1, $2)', [crypto.randomUUID(), facts]);
  const items = await instance.call({ p_perspectives: ['orders@1'], p_lease_seconds: 1 });
  expect(items).toMatchObject([{ source: 'perspective', destination: 'orders@1' }]);
}

describe.each([10, 3600])('When the clock goes back by %i seconds', (seconds) => {
  it('a bookmark of a dead instance is handed out when its lease ends, though the clock went back', async () => {
    await using db = await createTestDatabase();
    const [a, b] = [1, 2].map(() => new Instance(crypto.randomUUID(), db.pool)) as [Instance, Instance];
    await a.call(outbox.completes(await a.call(outbox.stores(message()))));
    await leased(db, a);
    await setClockBack(db, seconds);
    await eventually(async () => {
      expect(await b.call({ p_perspectives: ['orders@1'] })).toMatchObject([{ destination: 'orders@1' }]);
    }, 20_000);
    const { rows } = await db.pool.query('select interruptions from wh_perspective_bookmarks');
    expect(rows).toEqual([{ interruptions: 1 }]);
  });
});

describe('A call that names no perspective', () => {
  it('a caller that names no perspective is handed no bookmark, whatever its room is', async () => {
    await using db = await createTestDatabase();
    const a = new Instance(crypto.randomUUID(), db.pool);
    await db.pool.query('select wh_register_perspective($1, $2)', [crypto.randomUUID(), facts]);
    expect(await a.call({ p_max_perspective_items: 1000 })).toEqual([]);
    expect(await a.call({ p_perspectives: ['orders@1'], p_max_perspective_items: 0 })).toEqual([]);
    expect(await a.call({ p_perspectives: ['other@1'] })).toEqual([]);
    expect((await db.pool.query('select instance_id from wh_perspective_bookmarks')).rows).toEqual([
      { instance_id: null },
    ]);
  });
});
