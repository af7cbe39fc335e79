import { expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders } from './support/orders.js';

it('wh_perspective_positions says of each stream how far a perspective is, and where it is held', async () => {
  await using db = await createTestDatabase();
  await using shop = service(db, { perspectives: [orders] });
  await shop.start();
  // A change where there is no model: held.
  await shop.events.append([placed('a', 1), paid('a', 1), placed('b', 2), paid('c', 3)]);
  await eventually(async () => {
    const { rows } = await db.pool.query(
      `select stream_id, stream_version::int, last_version::int, held, failed_version::int, failed_type
       from wh_perspective_positions where perspective_name = 'orders@1'`,
    );
    const common = { held: false, failed_version: null, failed_type: null };
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        { stream_id: streamIdOf('a'), stream_version: 2, last_version: 2, ...common },
        { stream_id: streamIdOf('b'), stream_version: 1, last_version: 1, ...common },
        {
          stream_id: streamIdOf('c'),
          stream_version: 1,
          last_version: 0,
          held: true,
          failed_version: 1,
          failed_type: 'OrderPaid',
        },
      ]),
    );
  });
  await shop.stop();
  await using stranger = service(db);
  await stranger.events.append(paid('b', 2));
  await db.pool.query('select wh_tick()');
  const { rows } = await db.pool.query(
    'select stream_version::int, last_version::int from wh_perspective_positions where stream_id = $1',
    [streamIdOf('b')],
  );
  expect(rows).toEqual([{ stream_version: 2, last_version: 1 }]);
});

it('a role that may read wh_perspective_positions reads no table of events or models by it', async () => {
  await using db = await createTestDatabase();
  const client = await db.pool.connect();
  try {
    await client.query(`begin; create role positions_reader; grant usage on schema whizbang to positions_reader;
      grant select on wh_perspective_positions to positions_reader;
      set local role positions_reader`);
    await client.query('select * from wh_perspective_positions');
    await expect(client.query('select * from wh_event_store')).rejects.toThrow('permission denied');
  } finally {
    await client.query('rollback');
    client.release();
  }
});
