// The order is watched where messages are finished: what each way of breaking it leaves as evidence, and what leaves none.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import {
  type Instance,
  ids,
  it,
  lanes,
  message,
  type NewMessage,
  outbox,
  reachSchedule,
  stream,
  type WorkRow,
} from '../support/work.js';

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };

async function violations(db: TestDatabase) {
  const { rows } = await db.pool.query(
    'select kind, lane, stream_id, message_id, other_id, instance_id from wh_order_violations order by id',
  );
  return rows as Record<string, unknown>[];
}

describe.each(lanes)('The watch over the order of the $source', (lane) => {
  const evidence = (kind: string, late: NewMessage, other: NewMessage | null, by: Instance) => ({
    kind,
    lane: lane.source,
    stream_id: late.stream_id,
    message_id: late.message_id,
    other_id: other?.message_id ?? null,
    instance_id: by.id,
  });

  it('a message that is finished before an earlier held one of its stream is evidence', async ({ db, a }) => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(first, second, third));
    await a.call(lane.completes([second]));
    expect(await violations(db)).toEqual([evidence('overtook', second, first, a)]);
    await a.call(lane.completes([first]));
    await a.call(lane.completes([third]));
    expect(await violations(db)).toHaveLength(1);
  });

  it('a handler that finishes a later message in its own transaction is seen too', async ({ db, a }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first, second));
    await a.call(lane.completes([second]), noRoom);
    expect(await violations(db)).toEqual([evidence('overtook', second, first, a)]);
  });

  it('a message that is finished together with a failure before it is evidence', async ({ db, a }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first, second));
    await a.call(lane.fails([first], { retry_after_seconds: 60 }), lane.completes([second]));
    expect(await violations(db)).toEqual([evidence('overtook', second, first, a)]);
  });

  it('a message that is finished while an earlier one is given back is evidence', async ({ db, a }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first, second));
    const [back, done] = [lane.releases([first]), lane.completes([second])];
    const [name] = Object.keys(done) as [`p_${string}`];
    await a.call({ [name]: [...(back[name] as unknown[]), ...(done[name] as unknown[])] });
    expect(await violations(db)).toEqual([evidence('overtook', second, first, a)]);
  });

  it('a claim that passes by a failed message is seen when the next one is finished', async ({ db, a }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await a.call(lane.fails([first], { retry_after_seconds: 60 }), lane.stores(second));
    // As a wrong claim would: the second is leased though the first waits.
    await db.pool.query(
      `update wh_${lane.source} set instance_id = $2, lease_expiry = clock_timestamp() + interval '1 minute' where message_id = $1`,
      [second.message_id, a.id],
    );
    await db.pool.query(
      `update wh_active_streams set instance_id = $2, lease_expiry = clock_timestamp() + interval '1 minute', is_blocked = false where stream_id = $1`,
      [second.stream_id, a.id],
    );
    await a.call(lane.completes([second]));
    expect(await violations(db)).toEqual([evidence('overtook', second, first, a)]);
  });

  it.for([1, 2])(
    'a message whose stream went on without it is evidence, one of %i',
    async (count, { db, a }) => {
      const [first, ...others] = stream(3) as [NewMessage, NewMessage, NewMessage];
      await a.call(lane.stores(first, ...others));
      // As a wrong settlement would: the head lies behind a message that is held.
      await db.pool.query('update wh_active_streams set head = head + 1000');
      await a.call(lane.completes([first, ...others.slice(0, count - 1)]));
      expect((await violations(db))[0]).toEqual(evidence('too-late', first, null, a));
    },
  );

  it('a message that commits late leaves no evidence', async ({ db, a }) => {
    const [early, late] = stream(2) as [NewMessage, NewMessage];
    const writer = await begin(db);
    await lane.insertPlain(writer.client, early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual([late.message_id]);
    await writer.query('commit');
    expect(ids(await a.call(lane.completes([late])))).toEqual([early.message_id]);
    await a.call(lane.completes([early]));
    expect(await violations(db)).toEqual([]);
  });

  it('failures, retries and dead letters in order leave no evidence', async ({ db, a }) => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(first, second, third));
    await a.call(lane.fails([first], { retry_after_seconds: 60 }), lane.releases([second, third]));
    await reachSchedule(db);
    const again: WorkRow[] = await a.call();
    expect(ids(again)).toEqual(ids([first, second, third]));
    await a.call(lane.fails([first], { dead_letter: true }), lane.completes([second]));
    await a.call(lane.completes([third]), lane.stores(message()));
    expect(await violations(db)).toEqual([]);
  });
});

it('the evidence of broken order is kept for the last ten thousand cases', async ({ db, a }) => {
  await db.pool.query(
    `insert into wh_order_violations (kind, lane, stream_id, message_id)
     select 'overtook', 'inbox', gen_random_uuid(), gen_random_uuid() from generate_series(1, 10010)`,
  );
  const [first, second] = stream(2) as [NewMessage, NewMessage];
  await a.call(outbox.stores(first, second));
  await a.call(outbox.completes([second]));
  expect((await db.pool.query('select count(*)::int as n from wh_order_violations')).rows[0].n).toBe(10_000);
});
