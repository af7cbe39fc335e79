import { describe, expect } from 'vitest';
import { Flags, ids, it, lanes, message, Status, stream, streamOwnedBy, streams } from '../support/work.js';

describe.each(lanes)('Plain inserts into the %s', (lane) => {
  it('a plain insert of five columns sends a message', async ({ db, a }) => {
    const [plain] = stream(1);
    if (!plain) throw new Error('one message');
    await lane.insertPlain(db.pool, plain);
    expect(await a.call()).toEqual([
      {
        source: lane.source,
        message_id: plain.message_id,
        stream_id: plain.stream_id,
        partition_number: expect.any(Number),
        destination: 'orders',
        event_type: plain.event_type,
        event_data: plain.event_data,
        metadata: {},
        scope: null,
        status: Status.Stored,
        flags: Flags.None,
        attempts: 0,
        sequence_order: expect.any(Number),
        lease_expiry: expect.any(Date),
      },
    ]);
  });

  it.for(['read committed', 'repeatable read', 'serializable'])(
    'a plain insert in a %s transaction is delivered after its commit, and not before',
    async (level, { db, a }) => {
      const client = await db.connect();
      const plain = message({ stream_id: crypto.randomUUID() });
      await client.query(`begin isolation level ${level}`);
      await client.query('select count(*) from wh_outbox');
      await lane.insertPlain(client, plain);
      expect(await a.call()).toEqual([]);
      await client.query('commit');
      expect(ids(await a.call())).toEqual([plain.message_id]);
    },
  );

  it('a plain insert that is rolled back is never handed out', async ({ db, a }) => {
    const client = await db.connect();
    await client.query('begin');
    await lane.insertPlain(client, ...streams(2));
    await client.query('rollback');
    expect(await a.call()).toEqual([]);
  });

  it('plain inserts of many rows in one statement are handed out in the order of the rows', async ({
    db,
    a,
  }) => {
    const messages = stream(5);
    const values = messages.map(
      ({ message_id, stream_id }) => `('${message_id}', 'orders', 'shop.OrderPlaced', '{}', '${stream_id}')`,
    );
    await db.pool.query(
      `begin; insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id) values ${values}; commit`,
    );
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('plain inserts keep their place among messages stored through the function', async ({ db, a }) => {
    const messages = stream(6);
    const [stored, ...rest] = messages;
    const held = await a.call(lane.stores(stored ?? message()));
    for (const [i, each] of rest.entries()) {
      if (i % 2 === 0) await lane.insertPlain(db.pool, each);
      else expect(await a.call(lane.stores(each))).toEqual([]);
    }
    expect(ids(await a.call(lane.completes(held)))).toEqual(ids(rest));
  });

  it('a plain insert is not overtaken by a later message that is stored with room', async ({ db, a }) => {
    const [plain, stored] = stream(2);
    if (!plain || !stored) throw new Error('two messages');
    await lane.insertPlain(db.pool, plain);
    const work = [...(await a.call(lane.stores(stored))), ...(await a.call())];
    expect(ids(work)).toEqual(ids([plain, stored]));
  });

  it('a plain insert is not overtaken when many wait to be admitted', async ({ db, a }) => {
    const [plain, stored] = stream(2);
    if (!plain || !stored) throw new Error('two messages');
    await db.pool.query(
      `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id)
       select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', gen_random_uuid() from generate_series(1, 1500)`,
    );
    await lane.insertPlain(db.pool, plain);
    const seen: string[] = [];
    let work = await a.call(lane.stores(stored), lane.room(400));
    for (; work.length > 0; work = await a.call(lane.completes(work), lane.room(400))) {
      seen.push(...ids(work));
    }
    expect(seen).toHaveLength(1502);
    expect(seen.indexOf(plain.message_id)).toBeLessThan(seen.indexOf(stored.message_id));
  });

  it('a plain insert into a stream that another instance holds waits for its holder', async ({
    db,
    a,
    b,
  }) => {
    const [stored, plain] = stream(2);
    if (!plain || !stored) throw new Error('two messages');
    const held = await a.call(lane.stores(stored));
    await lane.insertPlain(db.pool, plain);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await a.call(lane.completes(held), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([plain.message_id]);
  });

  it('any instance admits a plain insert, and the owner of its partition gets it', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const plain = message({ stream_id: await streamOwnedBy(db, a) });
    await lane.insertPlain(db.pool, plain);
    await b.call();
    expect(await lane.rows(db)).toMatchObject([{ partition_number: expect.any(Number), instance_id: null }]);
    expect(ids(await a.call())).toEqual([plain.message_id]);
  });
});

describe.each(lanes)('Late commits of plain inserts into the %s', (lane) => {
  it('a plain insert that commits late is delivered though later messages of its stream are done', async ({
    db,
    a,
  }) => {
    const [early, late] = stream(2);
    if (!early || !late) throw new Error('two messages');
    const client = await db.connect();
    await client.query('begin');
    await lane.insertPlain(client, early);
    await lane.insertPlain(db.pool, late);
    await a.call(lane.completes(await a.call()));
    await client.query('commit');
    expect(ids(await a.call())).toEqual([early.message_id]);
  });

  it('a plain insert that commits late comes before a later message that still waits', async ({ db, a }) => {
    const [early, late] = stream(2);
    if (!early || !late) throw new Error('two messages');
    const client = await db.connect();
    await client.query('begin');
    await lane.insertPlain(client, early);
    await lane.insertPlain(db.pool, late);
    const work = await a.call();
    expect(ids(work)).toEqual([late.message_id]);
    await a.call(lane.releases(work), lane.room(0));
    await client.query('commit');
    const seen = [...(await a.call()), ...(await a.call())];
    expect(ids(seen)).toEqual(ids([early, late]));
  });

  it('a plain insert that commits late is delivered after traffic that moves the floors', async ({
    db,
    a,
  }) => {
    const client = await db.connect();
    const early = message({ stream_id: crypto.randomUUID() });
    await client.query('begin');
    await lane.insertPlain(client, early);
    for (let i = 0; i < 5; i++) {
      await a.call(lane.completes(await a.call(lane.stores(...streams(3)))));
      await db.pool.query("update wh_lanes set moved_at = '-infinity'");
    }
    await client.query('commit');
    expect(ids(await a.call())).toEqual([early.message_id]);
  });
});
