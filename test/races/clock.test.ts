// While one call follows a clock that has gone back, others must not lease in the new time: it would move their leases back too.
import { expect } from 'vitest';
import { setClockBack } from '../support/clock.js';
import { ids, inbox, it, message, outbox, streams } from '../support/work.js';
import { noRoom, takeover } from './transactions.js';

it('messages leased while another call follows the clock back are given to nobody else', async ({
  db,
  a,
  b,
  c,
}) => {
  for (const each of [a, b, c]) await each.call();
  // Many retries that wait, so that it takes a moment.
  for (let round = 0; round < 10; round++) {
    const items = await a.call(outbox.stores(...streams(1000)));
    await a.call(outbox.fails(items, { retry_after_seconds: 600 }), noRoom);
  }
  await db.pool.query(`update wh_lanes set moved_at = '-infinity'`);
  await a.call(inbox.completes(await a.call(inbox.stores(message()))));
  await setClockBack(db, 3600);
  let isFollowing = true;
  const following = c.call(takeover).finally(() => {
    isFollowing = false;
  });
  const held: string[] = [];
  while (isFollowing) held.push(...ids(await b.call(inbox.stores(message()), takeover)));
  await following;
  expect(held.length).toBeGreaterThan(0);
  const given = ids([...(await c.call(takeover)), ...(await a.call(takeover))]);
  expect(given.filter((id) => held.includes(id))).toEqual([]);
  expect(new Set(held).size).toBe(held.length);
});
