// Streams that wait at a limit are handed out when a call asks for it by name, no more than it asks for.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ids, inbox, it, message, type NewMessage, stream, streams } from '../support/work.js';

const handles = (...names: string[]) => ({ p_inbox_handlers: names });
const asks = (limits: Record<string, number>) => ({ p_inbox_limits: JSON.stringify(limits) });
const forHandler = (handler_name: string, fields: Partial<NewMessage> = {}) =>
  ({ ...message(fields), handler_name }) as NewMessage;
const takeover = { p_takeover_seconds: 0 };
const enter = async (db: TestDatabase, instance: string, id: string | undefined, more: object) => {
  const {
    concurrency = null,
    count = null,
    perSeconds = null,
    waitsAt = null,
  } = more as Record<string, unknown>;
  const { rows } = await db.pool.query(
    `select wh_enter_limit($1, $2, 'mine', 'k', $3, $4, $5, $6) as seconds`,
    [instance, id, waitsAt, concurrency, count, perSeconds],
  );
  return rows[0].seconds as number | null;
};

describe('A call that asks at limits', () => {
  it('a call that asks at a limit gets as many streams as it asks for, and the rest waits', async ({
    db,
    a,
    b,
  }) => {
    await inbox.insertPlain(db.pool, ...streams(5).map(() => forHandler('mine')));
    expect(await a.call(handles(), asks({ mine: 2 }))).toHaveLength(2);
    expect(await a.call(handles())).toEqual([]);
    expect(await b.call(handles(), asks({ mine: 10 }), takeover)).toHaveLength(3);
  });

  it('a stream that waits at a limit gives only its first message', async ({ db, a }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const all = [1, 2].map(() => forHandler('mine', { stream_id }));
    await inbox.insertPlain(db.pool, ...all);
    const first = await a.call(handles(), asks({ mine: 5 }));
    expect(ids(first)).toEqual([all[0]?.message_id]);
    expect(await a.call(handles(), asks({ mine: 5 }))).toEqual([]);
    expect(ids(await a.call(inbox.completes(first), handles(), asks({ mine: 5 })))).toEqual([
      all[1]?.message_id,
    ]);
  });

  it('a message that was left at a key is handed out only to a call that names the key', async ({
    db,
    a,
    b,
  }) => {
    const one = forHandler('mine');
    await inbox.insertPlain(db.pool, one);
    const held = await a.call(handles(), asks({ mine: 1 }));
    await db.pool.query('select wh_wait_at_limit($1, $2, $3)', [a.id, one.message_id, 'mine\u001fk']);
    expect(await a.call(inbox.releases(held), handles(), asks({ mine: 1 }), takeover)).toEqual([]);
    expect((await db.pool.query(`select wh_waiting_limits('mine', null, 10) as names`)).rows).toEqual([
      { names: ['mine\u001fk'] },
    ]);
    expect(ids(await b.call(handles(), asks({ 'mine\u001fk': 1 }), takeover))).toEqual([one.message_id]);
  });

  it('a message that was left at a key is handed out to an instance that has no limit', async ({
    db,
    a,
    b,
  }) => {
    const one = forHandler('mine');
    await inbox.insertPlain(db.pool, one);
    const held = await a.call(handles(), asks({ mine: 1 }));
    await db.pool.query('select wh_wait_at_limit($1, $2, $3)', [a.id, one.message_id, 'mine\u001fk']);
    await a.call(inbox.releases(held), handles(), asks({ mine: 1 }), takeover);
    expect(ids(await b.call(handles('mine'), takeover))).toEqual([one.message_id]);
  });

  it.for([
    ['[]', 'p_inbox_limits'],
    ['{"mine": -1}', 'p_inbox_limits.mine'],
    ['{"mine": "2"}', 'p_inbox_limits.mine'],
  ])('a call with the limits %s is refused by the name of the field', async ([limits, field], { a }) => {
    await expect(a.call({ p_inbox_limits: limits })).rejects.toMatchObject({ code: 'WB001', column: field });
  });
});

describe('A limit over all instances', () => {
  it('a message enters while a place is free, and the next when it has left', async ({ db, a, b }) => {
    await inbox.insertPlain(db.pool, ...streams(2).map(() => forHandler('mine')));
    const [one] = await a.call(handles('mine'), inbox.room(1));
    const [two] = await b.call(handles('mine'), inbox.room(1), takeover);
    expect(await enter(db, a.id, one?.message_id, { concurrency: 1 })).toBeNull();
    expect(await enter(db, a.id, one?.message_id, { concurrency: 1 })).toBeNull(); // the same again
    expect(await enter(db, b.id, two?.message_id, { concurrency: 1, waitsAt: 'mine\u001fk' })).toBe(0);
    const { rows } = await db.pool.query('select waits_at from wh_inbox where waits_at is not null');
    expect(rows).toEqual([{ waits_at: 'mine\u001fk' }]);
    await a.call(inbox.completes([one as { message_id: string }]), inbox.room(0));
    expect(await enter(db, b.id, two?.message_id, { concurrency: 1 })).toBeNull();
  });

  it('a rate lets no more in within its time, and says when the next may come', async ({ db, a }) => {
    const rate = { count: 2, perSeconds: 60 };
    const entered = [await enter(db, a.id, a.id, rate), await enter(db, a.id, a.id, rate)];
    expect(entered).toEqual([null, null]);
    const wait = await enter(db, a.id, a.id, rate);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    await db.pool.query(
      `update wh_limits set entered_at = array(select at - interval '60 seconds' from unnest(entered_at) at)`,
    );
    expect(await enter(db, a.id, a.id, rate)).toBeNull();
  });

  it('a rate waits no longer than its time when the clock has gone back', async ({ db, a }) => {
    const rate = { count: 1, perSeconds: 60 };
    await enter(db, a.id, a.id, rate);
    await db.pool.query(
      `update wh_limits set entered_at = array(select at + interval '1 day' from unnest(entered_at) at)`,
    );
    expect(await enter(db, a.id, a.id, rate)).toBeLessThanOrEqual(60);
  });

  it('a rate of more than a hundred keeps at most a hundred times', async ({ db, a }) => {
    const rate = { count: 300, perSeconds: 1000 };
    for (let n = 0; n < 300; n++) expect(await enter(db, a.id, a.id, rate), `of ${n}`).toBeNull();
    expect(await enter(db, a.id, a.id, rate)).toBeGreaterThan(0);
    const { rows } = await db.pool.query('select cardinality(entered_at) as times from wh_limits');
    expect(rows[0].times).toBeLessThanOrEqual(100);
  });

  it('a row of a limit that nobody uses is removed, and one in use stays', async ({ db, a }) => {
    await enter(db, a.id, a.id, { count: 1, perSeconds: 1 });
    await db.pool.query(`select wh_remove_idle_limits('mine', null, 10)`);
    expect((await db.pool.query('select 1 from wh_limits')).rows).toHaveLength(1);
    await db.pool.query(`update wh_limits set idle_from = now() - interval '2 minutes'`);
    await db.pool.query(`select wh_remove_idle_limits('mine', null, 10)`);
    expect((await db.pool.query('select 1 from wh_limits')).rows).toEqual([]);
  });
});
