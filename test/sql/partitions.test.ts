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
  it.for([1, 2, 3, 4, 5])(
    'wh_partition_assignments gives every partition to exactly one of %i instances',
    async (count, { db }) => {
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
    },
  );

  it('wh_partition_assignments is empty without instances', async ({ db }) => {
    expect(await assignments(db)).toEqual([]);
  });

  it('wh_partition_assignments gives nothing to a stale instance', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await silence(db, a, 601);
    expect(await assignments(db)).toMatchObject([{ instance_id: b.id, partitions: 10_000 }]);
  });

  it('wh_partition_assignments follows the partition count that the instances use', async ({ db, a, b }) => {
    await a.call({ p_partition_count: 7 });
    await b.call({ p_partition_count: 7 });
    expect(await assignments(db)).toMatchObject([{ partitions: 4 }, { partitions: 3 }]);
  });

  it('wh_partition_assignments shows the heartbeat of the owner', async ({ db, a }) => {
    await a.call();
    const { rows } = await db.pool.query(
      `select last_heartbeat = last_heartbeat_at as same from wh_partition_assignments p
       join wh_service_instances i using (instance_id) where partition_number = 5`,
    );
    expect(rows).toEqual([{ same: true }]);
  });
});

describe.each(lanes)('Unleased work of the %s', (lane) => {
  it('active instances share unleased work, each in its own partitions', async ({ db, a, b, c }) => {
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

  it('an instance that joins gets the unleased work of its partitions at once', async ({ db, a, b }) => {
    await a.call();
    await lane.insertPlain(db.pool, ...streams(40));
    await a.call(lane.room(1));
    const work = await b.call();
    expect(work.length).toBeGreaterThan(5);
    expect(work.every(({ partition_number }) => partition_number % 2 === 1)).toBe(true);
  });

  it('unleased work is not handed to another instance while the owner of its partition is active', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    expect(await b.call()).toEqual([]);
    expect(ids(await a.call())).toEqual([mine.message_id]);
  });

  it('unleased work in the partition of a stale instance goes to another', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    await silence(db, a, 601);
    expect(ids(await b.call())).toEqual([mine.message_id]);
  });

  it('unleased work of a partition without an owner goes to the first instance that calls', async ({
    db,
    a,
  }) => {
    const early = message({ stream_id: crypto.randomUUID() });
    await lane.insertPlain(db.pool, early);
    expect(ids(await a.call())).toEqual([early.message_id]);
  });

  it('any instance may take unleased work after the grace period, and not before', async ({ db, a, b }) => {
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

  it('the default grace period before a takeover is five seconds', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(await b.call()).toEqual([]);
    await letWaitingAge(db, 5);
    expect(ids(await b.call())).toEqual([mine.message_id]);
  });

  it('any instance may take unleased work at once with a grace period of zero', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([mine.message_id]);
  });

  it('the grace period before a takeover may be a fraction of a second', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const mine = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, mine);
    await b.call({ p_takeover_seconds: 3600 });
    await letWaitingAge(db, 0.5);
    expect(ids(await b.call({ p_takeover_seconds: 0.5 }))).toEqual([mine.message_id]);
  });

  it('a stream that was taken over is kept from the owner of its partition', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const stream_id = await streamOwnedBy(db, a);
    await lane.insertPlain(db.pool, message({ stream_id }));
    await b.call({ p_takeover_seconds: 0 });
    await lane.insertPlain(db.pool, message({ stream_id }));
    expect(await a.call()).toEqual([]);
  });
});

it('a stream has one partition, within the partition count that the caller gives', async ({ db, a }) => {
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

describe.each(lanes)('Instances that have never asked for work in the %s', (lane) => {
  it('an instance that has never asked for work owns no partition', async ({ a, b }) => {
    await b.call();
    const sent = streams(40);
    await a.call(lane.stores(...sent), lane.room(0));
    expect(ids(await b.call(lane.room(100))).sort()).toEqual(ids(sent).sort());
  });

  it('an instance owns its share of partitions from its first call with room on', async ({ a, b }) => {
    await b.call();
    await a.call(lane.room(0));
    await a.call(lane.room(1));
    const sent = streams(40);
    await a.call(lane.stores(...sent), lane.room(0));
    expect((await b.call(lane.room(100))).length).toBeLessThan(sent.length);
  });
});

describe.each(lanes)('Instances with spare places in the %s', (lane) => {
  const spare = (streams: number) => ({ [`p_spare_${lane.source}_streams`]: streams });

  it('an instance claims as many streams as it has spare places, whoever owns them, then its own', async ({
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

  it('an instance with spare places takes no more than it has room for', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await lane.insertPlain(db.pool, ...streams(6));
    expect(await a.call(lane.room(2), spare(5))).toHaveLength(2);
    expect(await a.call(lane.room(0), spare(5))).toEqual([]);
    expect(await a.call(lane.room(5), spare(5))).toHaveLength(4);
  });
});
