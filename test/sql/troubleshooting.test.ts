// The queries that the guide tells people to run when messages are stuck or out of order, as they are written there.
import { describe, expect } from 'vitest';
import { Flags, it, outbox, stream } from '../support/work.js';

describe('The troubleshooting queries', () => {
  it('the query for heartbeats lists every instance', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const { rows } = await db.pool.query(
      'SELECT instance_id, last_heartbeat_at, now() - last_heartbeat_at AS age FROM wh_service_instances',
    );
    expect(rows.map(({ instance_id }) => instance_id).sort()).toEqual([a.id, b.id]);
  });

  it('the query for partition ownership names the owner of a message’s partition', async ({ db, a, b }) => {
    await b.call();
    const [item] = await a.call(outbox.stores(...stream(1)));
    const { rows } = await db.pool.query(
      'SELECT partition_number, instance_id, last_heartbeat FROM wh_partition_assignments WHERE partition_number = $1',
      [item?.partition_number],
    );
    expect(rows).toEqual([
      {
        partition_number: item?.partition_number,
        instance_id: [a.id, b.id][(item?.partition_number ?? 0) % 2],
        last_heartbeat: expect.any(Date),
      },
    ]);
  });

  it('the query for stream ordering shows which message of a stream is held', async ({ db, a }) => {
    const [first] = await a.call(outbox.stores(...stream(2)), outbox.room(1));
    const { rows } = await db.pool.query(
      `SELECT message_id, created_at, instance_id, lease_expiry, scheduled_for, status
       FROM wh_outbox WHERE stream_id = $1 ORDER BY created_at`,
      [first?.stream_id],
    );
    const held = rows.filter(({ instance_id }) => instance_id === a.id);
    expect(rows).toHaveLength(2);
    expect(held).toMatchObject([{ message_id: first?.message_id }]);
  });

  it('the query for lease status shows the holder and that the lease has not ended', async ({ db, a }) => {
    const [item] = await a.call(outbox.stores(...stream(1)));
    const { rows } = await db.pool.query(
      `SELECT message_id, instance_id, lease_expiry, lease_expiry < now() AS is_expired
       FROM wh_outbox WHERE message_id = $1`,
      [item?.message_id],
    );
    expect(rows).toMatchObject([{ instance_id: a.id, is_expired: false }]);
  });

  it('the query for messages processed out of order finds none', async ({ db, a }) => {
    let work = await a.call(outbox.stores(...stream(6)), outbox.room(2));
    while (work.length > 0) {
      work = await a.call(outbox.completes(work), outbox.room(2), { p_flags: Flags.DebugMode });
    }
    const { rows } = await db.pool.query(
      `SELECT later.message_id AS later_msg, later.processed_at AS later_processed,
              earlier.message_id AS earlier_msg, earlier.processed_at AS earlier_processed
       FROM wh_outbox later
       JOIN wh_outbox earlier ON later.stream_id = earlier.stream_id AND later.created_at > earlier.created_at
       WHERE later.processed_at < earlier.processed_at`,
    );
    expect(await outbox.rows(db)).toHaveLength(6);
    expect(rows).toEqual([]);
  });
});
