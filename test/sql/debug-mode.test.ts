import { describe, expect } from 'vitest';
import { Flags, ids, it, lanes, message, Status, stream } from '../support/work.js';

describe.each(lanes)('Debug mode in the %s', (lane) => {
  const debug = { p_flags: Flags.DebugMode };

  it('debug mode keeps completed rows, with the time of their completion', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work), debug);
    expect(await lane.rows(db)).toMatchObject([
      {
        status: Status.Stored | lane.done,
        processed_at: expect.any(Date),
        instance_id: null,
        lease_expiry: null,
      },
    ]);
  });

  it('debug mode never hands out a completed row again', async ({ db, a, b }) => {
    await a.call(lane.completes(await a.call(lane.stores(...stream(2), message()))), debug);
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
  });

  it('a completed row that debug mode keeps does not hold up its stream', async ({ a }) => {
    const [first, ...later] = stream(3);
    const work = await a.call(lane.stores(first ?? message()));
    await a.call(lane.completes(work), debug);
    expect(ids(await a.call(lane.stores(...later)))).toEqual(ids(later));
  });

  it('a report on a completed row that debug mode keeps comes back as lost', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work), debug);
    const before = await lane.rows(db);
    expect(await a.call(lane.fails(work))).toMatchObject([{ flags: Flags.LeaseLost }]);
    expect(await lane.rows(db)).toEqual(before);
  });

  it('a partly completed row is handed out again in debug mode', async ({ db, a }) => {
    await a.call(lane.completes(await a.call(lane.stores(message())), lane.partly), debug);
    expect(await lane.rows(db)).toMatchObject([{ processed_at: null }]);
    expect(await a.call()).toHaveLength(1);
  });
});
