// Behind a crowd of arrivals that nobody can admit, calls note how far they have looked. What commits late below that mark is found
// when the mark ends, however busy the calls are, and its events are not overtaken meanwhile.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  message,
  type NewMessage,
  stream,
} from '../support/work.js';
import { begin } from './transactions.js';

/** A stream that somebody has locked, with many messages in it; among them `late` takes its order, and stays uncommitted. */
async function crowdAround(db: TestDatabase, lane: Lane, a: Instance, late: NewMessage) {
  const [held] = await a.call(lane.stores(...stream(1)));
  const crowded = held?.stream_id ?? '';
  const locker = await begin(db);
  await locker.query('select from wh_active_streams where stream_id = $1 for update', [crowded]);
  const writer = await begin(db);
  await lane.insertCrowd(db, crowded, 6000); // more than a call admits that finds nothing to start
  await lane.insertPlain(writer.client, late);
  await lane.insertCrowd(db, crowded, 1500);
  expect(await a.call(lane.room(10))).toEqual([]); // it has looked behind them, and noted it
  await writer.query('commit');
  return { crowded, locker };
}

describe.each(lanes)('Late commits behind a crowd in the %s', (lane) => {
  it('a message that commits late below the mark is handed out when the mark ends', async ({ db, a }) => {
    const late = message({ stream_id: crypto.randomUUID() });
    const { crowded, locker } = await crowdAround(db, lane, a, late);
    await eventually(async () => {
      await lane.insertCrowd(db, crowded, 1);
      expect(ids(await a.call(lane.room(10)))).toEqual(ids([late]));
    }, 20_000);
    await locker.query('rollback');
  });

  it('an event that commits late below the mark is not overtaken in the event store', async ({ db, a }) => {
    const [late, next] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    const { locker } = await crowdAround(db, lane, a, late);
    await lane.insertPlain(db.pool, next);
    const handedOut: string[] = [];
    await eventually(async () => {
      const items = await a.call(lane.room(10));
      await a.call(lane.completes(items), lane.room(0));
      handedOut.push(...ids(items));
      expect(handedOut).toEqual(ids([late, next]));
    }, 20_000);
    const { rows } = await db.pool.query(
      'select event_id from wh_event_store where stream_id = $1 order by version',
      [late.stream_id],
    );
    expect(rows.map(({ event_id }) => event_id)).toEqual(ids([late, next]));
    await locker.query('rollback');
  });
});
