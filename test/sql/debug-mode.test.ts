import { describe, expect } from 'vitest';
import { Flags, ids, it, lanes, message, Status, stream } from '../support/work.js';

describe.each(lanes)('In the %s, debug mode', (lane) => {
  const debug = { p_flags: Flags.DebugMode };

  it('keeps completed rows, with the time', async ({ db, a }) => {
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

  it('never hands a completed row out again', async ({ db, a, b }) => {
    await a.call(lane.completes(await a.call(lane.stores(...stream(2), message()))), debug);
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
  });

  it('does not let a completed row hold up its stream', async ({ a }) => {
    const [first, ...later] = stream(3);
    const work = await a.call(lane.stores(first ?? message()));
    await a.call(lane.completes(work), debug);
    expect(ids(await a.call(lane.stores(...later)))).toEqual(ids(later));
  });

  it('does not let a completed row be reported on again', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work), debug);
    const before = await lane.rows(db);
    expect(await a.call(lane.fails(work))).toMatchObject([{ flags: Flags.LeaseLost }]);
    expect(await lane.rows(db)).toEqual(before);
  });

  it('keeps a partly completed row in play', async ({ db, a }) => {
    await a.call(lane.completes(await a.call(lane.stores(message())), lane.partly), debug);
    expect(await lane.rows(db)).toMatchObject([{ processed_at: null }]);
    expect(await a.call()).toHaveLength(1);
  });
});
