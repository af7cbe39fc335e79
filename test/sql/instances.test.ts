import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { Flags, ids, it, lanes, silence, streamOwnedBy, streams } from '../support/work.js';

const registered = async (db: TestDatabase) =>
  (await db.pool.query('select * from wh_service_instances order by instance_id')).rows;

describe('An instance', () => {
  it('the first call of an instance registers it with what it says of itself', async ({ db, a }) => {
    await a.call({ p_metadata: { version: '1.2' }, p_process_id: 77 });
    expect(await registered(db)).toMatchObject([
      {
        instance_id: a.id,
        service_name: 'shop',
        host_name: 'host-1',
        process_id: 77,
        metadata: { version: '1.2' },
      },
    ]);
  });

  it('an instance writes its heartbeat only when that has aged', async ({ db, a }) => {
    await a.call();
    await silence(db, a, -30);
    const [fresh] = await registered(db);
    await a.call();
    expect(await registered(db)).toEqual([fresh]);
    await silence(db, a, 1);
    const [aged] = await registered(db);
    await a.call();
    const [beaten] = await registered(db);
    expect(beaten.last_heartbeat_at.getTime()).toBeGreaterThan(aged.last_heartbeat_at.getTime());
    expect(beaten.started_at).toEqual(fresh.started_at);
  });

  it('an instance keeps its metadata when a later call gives none', async ({ db, a }) => {
    await a.call({ p_metadata: { version: '1.2' } });
    await silence(db, a, 2);
    await a.call();
    expect(await registered(db)).toMatchObject([{ metadata: { version: '1.2' } }]);
  });

  it('an instance that was heard of within the stale threshold stays registered', async ({ db, a, b }) => {
    await a.call();
    await silence(db, a, 590);
    await b.call();
    expect(await registered(db)).toHaveLength(2);
  });

  it('an instance silent beyond the stale threshold is removed by the next call of another', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await silence(db, a, 601);
    await b.call();
    expect(await registered(db)).toMatchObject([{ instance_id: b.id }]);
  });

  it('a call measures other instances by the stale threshold that it gives', async ({ db, a, b }) => {
    await a.call();
    await silence(db, a, 31);
    await b.call({ p_stale_threshold_seconds: 30 });
    expect(await registered(db)).toMatchObject([{ instance_id: b.id }]);
  });

  it('an instance never removes itself, however long it was silent', async ({ db, a }) => {
    await a.call();
    await silence(db, a, 6000);
    await a.call();
    expect(await registered(db)).toMatchObject([{ instance_id: a.id }]);
    expect((await registered(db))[0].last_heartbeat_at.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe.each(lanes)('In the %s', (lane) => {
  it('the work of a stale instance is leased to another instance', async ({ db, a, b }) => {
    const messages = streams(3);
    await a.call(lane.stores(...messages));
    await silence(db, a, 601);
    const first = await b.call();
    const second = await b.call();
    expect(ids([...first, ...second]).sort()).toEqual(ids(messages).sort());
    expect(await lane.rows(db)).toEqual(
      Array.from(messages, () => expect.objectContaining({ instance_id: b.id })),
    );
  });

  it('the call that removes a stale instance is handed its work', async ({ db, a, b }) => {
    const messages = streams(3);
    await a.call(lane.stores(...messages));
    await silence(db, a, 601);
    expect(ids(await b.call()).sort()).toEqual(ids(messages).sort());
  });

  it('an instance that comes back after its removal as stale has lost its leases', async ({ db, a, b }) => {
    const work = await a.call(lane.stores(...streams(2)));
    await silence(db, a, 601);
    await b.call();
    const late = await a.call(lane.completes(work), lane.room(0));
    expect(late.map(({ flags }) => flags)).toEqual([Flags.LeaseLost, Flags.LeaseLost]);
    expect(await lane.rows(db)).toHaveLength(2);
    expect(await registered(db)).toHaveLength(2);
  });

  it('deregister_instance frees all that the instance holds and returns the number of streams', async ({
    db,
    a,
    b,
  }) => {
    const messages = streams(3);
    await b.call();
    await a.call(lane.stores(...messages));
    const { rows } = await db.pool.query('select deregister_instance($1) as freed', [a.id]);
    expect(rows).toEqual([{ freed: 3 }]);
    expect(await registered(db)).toMatchObject([{ instance_id: b.id }]);
    expect(ids(await b.call()).sort()).toEqual(ids(messages).sort());
  });

  it('deregister_instance counts no attempt and leaves the work of others alone', async ({ db, a, b }) => {
    await b.call();
    const [mine] = await a.call(lane.stores(...streams(1)));
    const [theirs] = await b.call(lane.stores(...streams(1)));
    await db.pool.query('select deregister_instance($1)', [a.id]);
    expect(await lane.rows(db)).toMatchObject([
      { message_id: mine?.message_id, attempts: 0, instance_id: null, lease_expiry: null, error: null },
      { message_id: theirs?.message_id, instance_id: b.id },
    ]);
  });

  it('waiting work in the partitions of a deregistered instance goes to those that stay', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const [message] = streams(1, { stream_id: await streamOwnedBy(db, a) });
    if (message) await lane.insertPlain(db.pool, message);
    expect(await b.call()).toEqual([]);
    await db.pool.query('select deregister_instance($1)', [a.id]);
    expect(ids(await b.call())).toEqual([message?.message_id]);
  });
});

describe('deregister_instance', () => {
  it('deregister_instance frees nothing for an unknown instance', async ({ db, a }) => {
    const { rows } = await db.pool.query('select deregister_instance($1) as freed', [a.id]);
    expect(rows).toEqual([{ freed: 0 }]);
  });

  it('deregister_instance refuses a null id', async ({ db }) => {
    await expect(db.pool.query('select deregister_instance(null)')).rejects.toMatchObject({
      code: 'WB001',
      column: 'p_instance_id',
    });
  });
});
