import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Instance } from '../support/work.js';
import { RangeWorker, registerCounted } from './support/range-worker.js';

/** The ranges of the perspective, which have to be a partition of all. */
async function rangesOf(db: TestDatabase): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ cuts: number[]; ranges: { from: number; to: number }[] }>(
    `select p.cuts, (select json_agg(json_build_object('from', b.from_partition, 'to', b.to_partition) order by b.from_partition)
       from wh_perspective_bookmarks b where b.name = p.name) as ranges
     from wh_perspectives p`,
  );
  const { cuts = [], ranges = [] } = rows[0] ?? {};
  expect(ranges.map(({ from }) => from)).toEqual(cuts);
  expect([...cuts.slice(1), 10_000]).toEqual(ranges.map(({ to }) => to + 1));
  return cuts;
}

const wantSplit = (db: TestDatabase) =>
  db.pool.query('update wh_perspectives set split_wanted_at = clock_timestamp()');

/** The same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

/** Three instances, and the perspective. */
async function begin(db: TestDatabase): Promise<readonly [Instance, Instance, Instance]> {
  const [a, b, c] = [0, 1, 2].map(() => new Instance(randomUUID(), db.pool)) as [
    Instance,
    Instance,
    Instance,
  ];
  for (const instance of [a, b, c]) await instance.call();
  await registerCounted(db, a);
  return [a, b, c];
}

async function finish(db: TestDatabase, claim: () => Promise<RangeWorker[]>): Promise<void> {
  for (let round = 0; round < 200; round++) {
    const workers = await claim();
    for (const worker of workers) while (await worker.step());
    if (workers.length === 0 && (await rangesOf(db)).length === 1) return;
  }
}

describe('the ranges of a perspective', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    it(`a perspective whose ranges are split, joined and lost in any order applies every event once, seed ${seed}`, async () => {
      await using db = await createTestDatabase();
      await using writer = service(db);
      const [a, b, c] = await begin(db);
      const random = randomOf(seed);
      let workers: RangeWorker[] = [];
      let events = 0;
      const versions = new Map<string, number>();
      const append = async () => {
        for (let i = random(12); i >= 0; i--) {
          const id = `s${random(30)}`;
          await writer.events.append(versions.has(id) ? paid(id) : placed(id));
          versions.set(id, (versions.get(id) ?? 0) + 1);
          events++;
        }
      };
      let most = 1;
      for (let step = 0; step < 120; step++) {
        const dice = random(20);
        const one = random(Math.max(workers.length, 1));
        if (dice < 2) await append();
        else if (dice < 5) {
          workers.push(...(await RangeWorker.claim(db, [a, b, c][random(3)] ?? a, 1 + random(3))));
        } else if (dice === 5) await wantSplit(db);
        else if (dice === 6)
          await db.pool.query(
            'update wh_perspective_bookmarks set lease_expiry = now() where instance_id is not null',
          );
        else if (dice === 7) workers = workers.filter((_, i) => i !== one);
        else if (!((await workers[one]?.step(random(8) > 0)) ?? true)) {
          workers = workers.filter((_, i) => i !== one);
        }
        most = Math.max(most, (await rangesOf(db)).length);
      }
      await db.pool.query('update wh_perspective_bookmarks set lease_expiry = now()');
      await finish(db, () => RangeWorker.claim(db, a, 5));
      expect(await rangesOf(db)).toEqual([0]);
      expect(most).toBeGreaterThan(1);
      const { rows } = await db.pool.query(
        `select count(*)::int as applied, count(distinct event_id)::int as events,
           count(*) filter (where version <> place)::int as out_of_order
         from (select *, row_number() over (partition by stream_id order by at) as place from applied) x`,
      );
      expect(rows).toEqual([{ applied: events, events, out_of_order: 0 }]);
    });
  }

  it('an instance with nothing to do is given half of a range that is far behind', async () => {
    await using db = await createTestDatabase();
    await using writer = service(db);
    const [a, b] = await begin(db);
    for (let i = 0; i < 20; i++) await writer.events.append(placed(`s${i}`));
    const [first] = await RangeWorker.claim(db, a, 1);
    await first?.step();
    expect(await RangeWorker.claim(db, b, 1)).toEqual([]);
    await first?.step();
    expect(await rangesOf(db)).toEqual([0]);
    await db.pool.query(`update wh_event_ticks set sealed_at = sealed_at - interval '6 seconds'`);
    expect(await RangeWorker.claim(db, b, 1)).toEqual([]);
    await first?.step();
    expect(await rangesOf(db)).toEqual([0, 5000]);
    expect(await RangeWorker.claim(db, b, 1)).toHaveLength(1);
  });

  it('a keyed perspective is never split', async () => {
    await using db = await createTestDatabase();
    await using writer = service(db);
    const [a] = await begin(db);
    await db.pool.query(`update wh_perspectives set kind = 'keyed', split_wanted_at = clock_timestamp()`);
    for (let i = 0; i < 20; i++) await writer.events.append(placed(`s${i}`));
    const [first] = await RangeWorker.claim(db, a, 1);
    await first?.step();
    await first?.step();
    expect(await rangesOf(db)).toEqual([0]);
  });
});
