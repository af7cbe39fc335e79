import { describe, expect } from 'vitest';
import { expireLeases, Flags, ids, it, lanes, message, stream, streams } from '../support/work.js';

describe.each(lanes)('Leases in the %s', (lane) => {
  it('a lease keeps the work from every other instance', async ({ a, b, c }) => {
    await a.call(lane.stores(...streams(5)));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    expect(await c.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('a lease keeps the work from an instance that joins, also in its own partitions', async ({ a, b }) => {
    const work = await a.call(lane.stores(...streams(30)));
    expect(work.some(({ partition_number }) => partition_number % 2 === 1)).toBe(true);
    expect(await b.call()).toEqual([]);
  });

  it('leased work is not handed out again to its holder', async ({ a }) => {
    await a.call(lane.stores(...streams(5)));
    expect(await a.call()).toEqual([]);
  });

  it('a lease lasts as long as the caller says, by the clock of the database', async ({ db, a }) => {
    const {
      rows: [{ before }],
    } = await db.pool.query('select clock_timestamp() as before');
    const [item] = await a.call(lane.stores(message()), { p_lease_seconds: 7 });
    const {
      rows: [{ after }],
    } = await db.pool.query('select clock_timestamp() as after');
    const expiry = item?.lease_expiry.getTime() ?? 0;
    expect(expiry).toBeGreaterThanOrEqual(before.getTime() + 7000);
    expect(expiry).toBeLessThanOrEqual(after.getTime() + 7000);
  });

  it('the default lease lasts five minutes', async ({ a }) => {
    const [item] = await a.call(lane.stores(message()));
    expect(Math.abs((item?.lease_expiry.getTime() ?? 0) - Date.now() - 300_000)).toBeLessThan(60_000);
  });

  it('the work of a crashed instance goes to another when the lease ends, marked as orphaned', async ({
    db,
    a,
    b,
  }) => {
    const messages = [...stream(2), message()];
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    const work = await b.call();
    expect(ids(work).sort()).toEqual(ids(messages).sort());
    expect(work.map(({ flags }) => flags & Flags.Orphaned)).toEqual(work.map(() => Flags.Orphaned));
    expect(work.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
  });

  it('an instance gets its own work back when its lease has ended, marked as orphaned', async ({ db, a }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    const work = await a.call();
    expect(ids(work)).toEqual(ids(messages));
    expect(work[0]?.flags).toBe(Flags.Orphaned);
  });

  it('a takeover writes the new holder and lease to every message of the stream', async ({ db, a, b }) => {
    await a.call(lane.stores(...stream(2)));
    await expireLeases(db, a);
    const [first] = await b.call();
    expect(await lane.rows(db)).toMatchObject([
      { instance_id: b.id, lease_expiry: first?.lease_expiry },
      { instance_id: b.id, lease_expiry: first?.lease_expiry },
    ]);
  });

  it('a holder whose lease has ended may still report while nobody has taken over', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await expireLeases(db, a);
    expect(await a.call(lane.completes(work))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('a takeover ends the lease of the whole stream, also of messages beyond the room', async ({
    db,
    a,
    b,
  }) => {
    const work = await a.call(lane.stores(...stream(3)));
    await expireLeases(db, a);
    expect(ids(await b.call(lane.room(1)))).toEqual(ids(work.slice(0, 1)));
    const late = await a.call(lane.completes(work.slice(1)), lane.room(0));
    expect(ids(late).sort()).toEqual(ids(work.slice(1)).sort());
    expect(late.every(({ flags }) => flags === Flags.LeaseLost)).toBe(true);
    expect(await lane.rows(db)).toHaveLength(3);
  });
});

describe.each(lanes)('Renewals in the %s', (lane) => {
  it('a renewal extends the lease of the message and of its stream', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(2)), { p_lease_seconds: 10 });
    expect(await a.call(lane.renews(work), { p_lease_seconds: 100 })).toEqual([]);
    const { rows } = await db.pool.query(
      `select extract(epoch from lease_expiry - clock_timestamp()) between 90 and 100 as renewed from ${lane.table}
       union all
       select extract(epoch from lease_expiry - clock_timestamp()) between 90 and 100 from wh_active_streams`,
    );
    expect(rows).toEqual([{ renewed: true }, { renewed: true }, { renewed: true }]);
  });

  it('a renewal never shortens a lease', async ({ db, a }) => {
    const [item] = await a.call(lane.stores(message()), { p_lease_seconds: 100 });
    await a.call(lane.renews([item ?? message()]), { p_lease_seconds: 10 });
    expect(await lane.rows(db)).toMatchObject([{ lease_expiry: item?.lease_expiry }]);
  });

  it('a renewal before any takeover keeps the work from others though the lease had ended', async ({
    db,
    a,
    b,
  }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await expireLeases(db, a);
    await a.call(lane.renews(work), lane.room(0));
    expect(await b.call()).toEqual([]);
  });

  it('a renewal of one message keeps the others of its stream from being taken', async ({ db, a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await expireLeases(db, a);
    await a.call(lane.renews(work.slice(1)), lane.room(0));
    expect(await b.call()).toEqual([]);
  });

  it('a message that its holder forgot to renew is handed out when the rest is completed', async ({
    db,
    a,
  }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await a.call(lane.stores(first, second));
    await expireLeases(db, a);
    await a.call(lane.renews([second]), lane.room(0));
    const rest = [...(await a.call(lane.completes([second]))), ...(await a.call())];
    expect(ids(rest)).toEqual([first.message_id]);
  });

  it('a renewal may name the same message twice', async ({ a }) => {
    const work = await a.call(lane.stores(message()));
    expect(await a.call(lane.renews([...work, ...work]))).toEqual([]);
  });
});
