import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  ids,
  instance,
  it,
  lanes,
  letWaitingAge,
  message,
  outbox,
  silence,
  streamOwnedBy,
  streams,
} from '../support/work.js';

const assignments = async (db: TestDatabase) =>
  (
    await db.pool.query<{ instance_id: string; partitions: number; distinct_partitions: number }>(
      `select instance_id, count(*)::int as partitions, count(distinct partition_number)::int as distinct_partitions
       from wh_partition_assignments group by instance_id order by instance_id`,
    )
  ).rows;

describe('The view wh_partition_assignments', () => {
  it.for([1, 2, 3, 4, 5])('gives every partition to exactly one of %i instances', async (count, { db }) => {
    const all = Array.from({ length: count }, (_, i) => instance(db, String(i + 1)));
    for (const each of all) await each.call();
    const { rows } = await db.pool.query(
      `select count(*)::int, min(partition_number), max(partition_number),
              count(distinct partition_number)::int as different from wh_partition_assignments`,
    );
    expect(rows).toEqual([{ count: 10_000, min: 0, max: 9999, different: 10_000 }]);
    const shares = await assignments(db);
    expect(shares.map(({ instance_id }) => instance_id)).toEqual(all.map(({ id }) => id));
    for (const { partitions } of shares) {
      expect(Math.abs(partitions - 10_000 / count)).toBeLessThan(1);
    }
  });

  it('is empty when nobody is there', async ({ db }) => {
    expect(await assignments(db)).toEqual([]);
  });

  it('gives nothing to an instance that is stale', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await silence(db, a, 601);
    expect(await assignments(db)).toMatchObject([{ instance_id: b.id, partitions: 10_000 }]);
  });

  it('follows the partition count that instances use', async ({ db, a, b }) => {
    await a.call({ p_partition_count: 7 });
    await b.call({ p_partition_count: 7 });
    expect(await assignments(db)).toMatchObject([{ partitions: 4 }, { partitions: 3 }]);
  });

  it('shows the heartbeat of the owner', async ({ db, a }) => {
    await a.call();
    const { rows } = await db.pool.query(
      `select last_heartbeat = last_heartbeat_at as same from wh_partition_assignments p
       join wh_service_instances i using (instance_id) where partition_number = 5`,
    );
    expect(rows).toEqual([{ same: true }]);
  });
});

describe.each(lanes)('Unleased work of the %s', (lane) => {
  it('is shared by all active instances, each its own partitions', async ({ db, a, b, c }) => {
    const all = [a, b, c].map((each) => each.with({ p_takeover_seconds: 3600 }));
    for (const each of all) await each.call();
    const messages = streams(60);
    await lane.insertPlain(db.pool, ...messages);
    const taken: string[] = [];
    for (const [rank, each] of all.entries()) {
      const work = await each.call();
      expect(work.map(({ partition_number }) => partition_number % 3)).toEqual(work.map(() => rank));
      expect(work.length).toBeGreaterThan(0);
      taken.push(...ids(work));
    }
    expect(taken.sort()).toEqual(ids(messages).sort());
  });

  it('follows ownership at once when an instance joins', async ({ db, a, b }) => {
    await a.call();
    await lane.insertPlain(db.pool, ...streams(40));
    await a.call(lane.room(1));
    const work = await b.call();
    expect(work.length).toBeGreaterThan(5);
    expect(work.every(({ partition_number }) => partition_number % 2 === 1)).toBe(true);
  });

  it('is not given to another instance while its owner is active', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    expect(await b.call()).toEqual([]);
    expect(ids(await a.call())).toEqual([mine.message_id]);
  });

  it('of a stale owner is given to another instance', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    await silence(db, a, 601);
    expect(ids(await b.call())).toEqual([mine.message_id]);
  });

  it('in a partition that nobody owned goes to the first instance that comes', async ({ db, a }) => {
    const early = message({ stream_id: crypto.randomUUID() });
    await lane.insertPlain(db.pool, early);
    expect(ids(await a.call())).toEqual([early.message_id]);
  });

  it('may be taken by anybody when it has waited longer than the grace period, and not before', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    const patient = b.with({ p_takeover_seconds: 600 });
    await patient.call();
    await letWaitingAge(db, 500);
    expect(await patient.call()).toEqual([]);
    await letWaitingAge(db, 100);
    expect(ids(await patient.call())).toEqual([mine.message_id]);
  });

  it('has a grace period of five seconds by default', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    await letWaitingAge(db, 5);
    expect(ids(await b.call())).toEqual([mine.message_id]);
  });

  it('may be taken by anybody at once with a grace period of zero', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([mine.message_id]);
  });

  it('has a grace period in fractions of a second', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    await b.call({ p_takeover_seconds: 3600 });
    await letWaitingAge(db, 0.5);
    expect(ids(await b.call({ p_takeover_seconds: 0.5 }))).toEqual([mine.message_id]);
  });

  it('that was taken over is held like any other', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const stream_id = await streamOwnedBy(db, a);
    await lane.insertPlain(db.pool, message({ stream_id }));
    await b.call({ p_takeover_seconds: 0 });
    await lane.insertPlain(db.pool, message({ stream_id }));
    expect(await a.call()).toEqual([]);
  });
});

describe('The partition of a message', () => {
  it('lies within the count that the caller gives and is the same for its whole stream', async ({
    db,
    a,
  }) => {
    const stream_id = crypto.randomUUID();
    const few = a.with({ p_partition_count: 3 });
    const stored = await few.call(
      outbox.stores(message({ stream_id }), message({ stream_id }), ...streams(20)),
    );
    const partitions = stored.map(({ partition_number }) => partition_number);
    expect(partitions[0]).toBe(partitions[1]);
    expect([...new Set(partitions)].sort()).toEqual([0, 1, 2]);
    expect((await outbox.rows(db)).map((row) => row.partition_number)).toEqual(partitions);
  });
});

describe.each(lanes)('An instance that has never asked for work, in the %s,', (lane) => {
  it('owns no partition, so that what it sends does not wait for it', async ({ a, b }) => {
    await b.call();
    const sent = streams(40);
    await a.call(lane.stores(...sent), lane.room(0));
    expect(ids(await b.call(lane.room(100))).sort()).toEqual(ids(sent).sort());
  });

  it('owns its share from its first call with room on', async ({ a, b }) => {
    await b.call();
    await a.call(lane.room(0));
    await a.call(lane.room(1));
    const sent = streams(40);
    await a.call(lane.stores(...sent), lane.room(0));
    expect((await b.call(lane.room(100))).length).toBeLessThan(sent.length);
  });
});

describe.each(lanes)('An instance that could begin streams of the %s at once', (lane) => {
  const spare = (streams: number) => ({ [`p_spare_${lane.source}_streams`]: streams });

  it('takes as many of others as it could begin, the longest wait first, and beyond that its own', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const [own, others] = [await streamOwnedBy(db, a), await streamOwnedBy(db, b)];
    const messages = [others, own].map((stream_id) => message({ stream_id }));
    const more = (await Promise.all([b, b, a].map((owner) => streamOwnedBy(db, owner)))).map((stream_id) =>
      message({ stream_id }),
    );
    await lane.insertPlain(db.pool, ...messages);
    await b.call(lane.room(1), { p_takeover_seconds: 3600 });
    await lane.insertPlain(db.pool, ...more);
    const taken = ids(await a.call(spare(1)));
    expect(taken).toContain(messages[1]?.message_id);
    expect(taken).toContain(more[2]?.message_id);
    expect(taken).toHaveLength(2);
    expect(ids(await a.call(spare(1)))).toHaveLength(1);
    expect(await a.call()).toEqual([]);
    expect(ids(await a.call(spare(5)))).toHaveLength(1);
  });

  it('takes no more than it has room for', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await lane.insertPlain(db.pool, ...streams(6));
    expect(await a.call(lane.room(2), spare(5))).toHaveLength(2);
    expect(await a.call(lane.room(0), spare(5))).toEqual([]);
    expect(await a.call(lane.room(5), spare(5))).toHaveLength(4);
  });
});
