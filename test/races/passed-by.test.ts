// Arrivals that cannot be admitted now are passed by for a while only when they are a crowd that hides others.
import { expect } from 'vitest';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { ids, it, message, type NewMessage, outbox, stream } from '../support/work.js';
import { begin } from './transactions.js';

it('an event whose stream is locked for a moment is handed out by the next call', async ({ db, a }) => {
  const [first, second] = stream(2) as [NewMessage, NewMessage];
  const [reported, other] = [message(), message()];
  await a.call(outbox.stores({ ...first, is_event: true }));
  await a.call(outbox.completes([first]), outbox.stores(reported));
  await db.pool.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
     values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, true)`,
    [second.message_id, second.stream_id],
  );
  const appending = await begin(db);
  await appending.query('select 1 from wh_event_streams for update');
  const reporting = await begin(db);
  await reporting.query('select 1 from wh_active_streams for update');
  const { client, pid } = await openSession(db);
  const called = a.over(client).call(outbox.completes([reported]));
  await waitUntilBlocked(db, pid); // it has seen the event, and not what comes now
  await outbox.insertPlain(db.pool, other);
  await reporting.query('rollback');
  const handedOut = await called;
  await appending.query('rollback');
  const { rows } = await db.pool.query(
    `select until from wh_admission where lane = 'outbox' and until > now()`,
  );
  expect(rows).toEqual([]);
  await db.pool.query(`update wh_active_streams set available_at = now() where instance_id is null`);
  expect(ids([...handedOut, ...(await a.call())])).toEqual(expect.arrayContaining(ids([second, other])));
});
