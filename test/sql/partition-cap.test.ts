import { describe, expect } from 'vitest';
import { expireLeases, ids, inbox, it, lanes, outbox, streams, type WorkRow } from '../support/work.js';

const partitions = (work: WorkRow[]) => new Set(work.map(({ partition_number }) => partition_number)).size;
const cap = (count: number) => ({ p_max_partitions_per_instance: count });

describe.each(lanes)('A cap on partitions in the %s', (lane) => {
  it('a cap limits in how many partitions an instance leases what it stores', async ({ a }) => {
    const work = await a.call(lane.stores(...streams(30)), cap(3));
    expect(partitions(work)).toBe(3);
  });

  it('a cap limits in how many partitions an instance leases waiting work', async ({ db, a }) => {
    await lane.insertPlain(db.pool, ...streams(30));
    expect(partitions(await a.call(cap(3)))).toBe(3);
  });

  it('a cap limits in how many partitions an instance leases orphaned work', async ({ db, a, b }) => {
    await a.call(lane.stores(...streams(30)));
    await expireLeases(db, a);
    expect(partitions(await b.call(cap(3)))).toBe(3);
  });

  it('a cap on partitions counts what the instance holds from earlier calls', async ({ db, a }) => {
    const first = await a.call(lane.stores(...streams(2)), cap(3));
    await lane.insertPlain(db.pool, ...streams(30));
    const second = await a.call(cap(3));
    expect(partitions(first)).toBe(2);
    expect(partitions([...first, ...second])).toBe(3);
    expect(await a.call(cap(3))).toEqual([]);
  });

  it('a cap on partitions lets in more streams of a held partition', async ({ a }) => {
    const few = a.with({ p_partition_count: 4 });
    await few.call(lane.stores(...streams(100)), lane.room(0));
    const first = await few.call(lane.room(1), cap(1));
    const second = await few.call(cap(1));
    expect(first).toHaveLength(1);
    expect(second.length).toBeGreaterThan(0);
    expect(partitions([...first, ...second])).toBe(1);
  });

  it('a cap on partitions does not count leases that have ended', async ({ db, a }) => {
    const first = await a.call(lane.stores(...streams(3)), cap(3));
    await expireLeases(db, a);
    expect(ids(await a.call(cap(3))).sort()).toEqual(ids(first).sort());
  });

  it('a cap on partitions leaves the rest of the work to other instances', async ({ a, b }) => {
    const messages = streams(10);
    const first = await a.call(lane.stores(...messages), cap(3));
    const second = await b.call({ p_takeover_seconds: 0 });
    expect(ids([...first, ...second]).sort()).toEqual(ids(messages).sort());
  });

  it('a cap on partitions makes no partition unreachable for a single instance', async ({ a }) => {
    const messages = streams(20);
    const seen: string[] = [];
    let work = await a.call(lane.stores(...messages), cap(1));
    for (let calls = 0; work.length > 0 && calls < 50; calls++) {
      expect(partitions(work)).toBe(1);
      seen.push(...ids(work));
      work = await a.call(lane.completes(work), cap(1));
    }
    expect(seen.sort()).toEqual(ids(messages).sort());
  });
});

describe('A cap on partitions', () => {
  it('a cap on partitions holds over both lanes together for stored messages', async ({ a }) => {
    const work = await a.call(outbox.stores(...streams(20)), inbox.stores(...streams(20)), cap(4));
    expect(partitions(work)).toBe(4);
    expect(await a.call(cap(4))).toEqual([]);
  });

  it('a cap on partitions holds over both lanes together for waiting messages', async ({ db, a }) => {
    await outbox.insertPlain(db.pool, ...streams(20));
    await inbox.insertPlain(db.pool, ...streams(20));
    const first = await a.call(cap(4));
    const second = await a.call(cap(4));
    expect(partitions([...first, ...second])).toBe(4);
  });
});
