// Test suites empty tables between two tests. What the mechanism keeps beside the messages goes with them, and comes back.
import { describe, expect } from 'vitest';
import { noRoom } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { dataTables, type Instance, ids, it, lanes, message, stream } from '../support/work.js';

const everything = [...dataTables, 'wh_lanes', 'wh_admission'];
/** Those that hold messages. As the guide on testing says it, with the floors, where sequences begin anew. */
const asDocumented = dataTables.filter(
  (table) => table !== 'wh_subscriptions' && table !== 'wh_service_instances',
);

describe.for([
  ['of all tables', `truncate ${everything.join(', ')}`],
  ['of all tables, with their sequences', `truncate ${everything.join(', ')} restart identity`],
  ['of those that hold messages', `truncate ${asDocumented.join(', ')}`],
  [
    'of those that hold messages, with their sequences',
    `truncate ${asDocumented.join(', ')}, wh_lanes, wh_admission restart identity`,
  ],
] as const)('After a truncate %s', ([, truncate]) => {
  describe.each(lanes)('in the %s', (lane) => {
    /** Traffic, so that floors and sequences have risen. */
    const emptied = async (db: TestDatabase, a: Instance) => {
      for (let round = 0; round < 5; round++) {
        const items = await a.call(lane.stores(...Array.from({ length: 20 }, () => message())));
        await a.call(lane.completes(items), noRoom);
        await db.pool.query(`update wh_lanes set moved_at = '-infinity'`);
      }
      await a.call();
      await db.pool.query(truncate);
      await db.pool.query(`update wh_lanes set moved_at = '-infinity'`);
    };

    it('a plain insert after a truncate is handed out by the next call and can be completed', async ({
      db,
      a,
    }) => {
      await emptied(db, a);
      const sent = message();
      await lane.insertPlain(db.pool, sent);
      const items = await a.call();
      expect(ids(items)).toEqual(ids([sent]));
      expect(await a.call(lane.completes(items), noRoom)).toEqual([]);
      expect(await lane.rows(db)).toEqual([]);
    });

    it('a message stored after a truncate is leased, failed and tried again', async ({ db, a }) => {
      await emptied(db, a);
      const items = await a.call(lane.stores(...stream(2)));
      expect(items).toHaveLength(2);
      await a.call(lane.fails(items.slice(0, 1), { retry_after_seconds: -1 }), lane.releases(items.slice(1)));
      expect(ids(await a.call())).toEqual(ids(items));
    });

    it('a call after a truncate completes a message and stores the next', async ({ db, a }) => {
      await emptied(db, a);
      await a.call(lane.stores(message()), noRoom);
      const [item] = await a.call();
      const [next] = [message()];
      await a.call(lane.completes(item === undefined ? [] : [item]), lane.stores(next), noRoom);
      expect(ids(await a.call())).toEqual(ids([next]));
    });
  });
});
