// What somebody has locked, or only another one can start, hides nothing from a call that has room for more.
import { describe, expect } from 'vitest';
import { ids, inbox, it, lanes, message, reachSchedule, streamOwnedBy, streams } from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

describe.each(lanes)('In the %s', (lane) => {
  it('an owner with room for one finds its due retry behind due retries of others', async ({ db, a, b }) => {
    for (const each of [a, b]) await each.call();
    const theirs: string[] = [];
    while (theirs.length < 20) theirs.push(await streamOwnedBy(db, b));
    const failed = await b.call(lane.stores(...theirs.map((stream_id) => message({ stream_id }))));
    const own = await a.call(lane.stores(message({ stream_id: await streamOwnedBy(db, a) })));
    await b.call(lane.fails(failed, { retry_after_seconds: 600 }), noRoom);
    await a.call(lane.fails(own, { retry_after_seconds: 600 }), noRoom);
    await reachSchedule(db);
    expect(ids(await a.call(lane.room(1)))).toEqual(ids(own));
  });

  it('due streams that an open transaction has locked, one of them crowded, hide no fresh message', async ({
    db,
    a,
    b,
  }) => {
    const items = await a.call(lane.stores(...streams(100)));
    await a.call(lane.releases(items), noRoom);
    const open = await begin(db);
    await a.over(open.client).call(lane.room(100));
    await lane.insertCrowd(db, items[0]?.stream_id ?? '', 1500);
    const fresh = message({ stream_id: crypto.randomUUID() });
    await lane.insertPlain(db.pool, fresh);
    expect(ids(await b.call(lane.room(100), takeover))).toEqual(ids([fresh]));
    await open.query('rollback');
  });

  it('an id that is stored again, scheduled and in another stream, blocks nothing there', async ({
    a,
    db,
  }) => {
    const [held] = await a.call(lane.stores(message({ stream_id: crypto.randomUUID() })));
    const stream_id = crypto.randomUUID();
    const scheduled_for = new Date(Date.now() + 3_600_000).toISOString();
    await a.call(lane.stores(message({ message_id: held?.message_id ?? '', stream_id, scheduled_for })));
    const next = message({ stream_id });
    await lane.insertPlain(db.pool, next);
    expect(ids([...(await a.call()), ...(await a.call())])).toEqual(ids([next]));
  });
});

it('an instance that has looked behind a crowd hides nothing from one with another handler', async ({
  db,
  a,
  b,
}) => {
  for (const each of [a, b]) await each.call();
  const [held] = await a.call(inbox.stores(message({ stream_id: crypto.randomUUID() })));
  const handler = await begin(db);
  await a.over(handler.client).call(inbox.renews(held === undefined ? [] : [held]), noRoom);
  await inbox.insertCrowd(db, held?.stream_id ?? '', 8000);
  const theirs = message({ stream_id: crypto.randomUUID() });
  await db.pool.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id) values ($1, 'mails', 'x', '{}', $2)`,
    [theirs.message_id, theirs.stream_id],
  );
  await a.call(inbox.room(10), { p_inbox_handlers: ['orders'] });
  expect(ids(await b.call(inbox.room(10), { p_inbox_handlers: ['mails'], ...takeover }))).toEqual(
    ids([theirs]),
  );
  await handler.query('rollback');
});
