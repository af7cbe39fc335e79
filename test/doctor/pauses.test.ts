// The doctor, what operators have paused, the order of streams, and the days of the history.
import { expect, it } from 'vitest';
import { examine } from '../../src/doctor/index.js';
import { createTestDatabase } from '../support/database.js';
import { inbox, instance, type NewMessage, stream } from '../support/work.js';

it('the doctor names what is paused, by whom, and the command that resumes it', async () => {
  await using db = await createTestDatabase();
  await db.pool.query(`select wh_pause('type', 'ChargeCard', 'gateway is down', 'anna'), wh_pause('intake')`);
  const client = await db.connect();
  const found = (await examine(client, 'whizbang')).filter(({ code }) => code === 'paused');
  await client.end();
  expect(found).toMatchObject([
    {
      level: 'warning',
      text: expect.stringMatching(/^anna has paused the type ChargeCard for \d+ s: gateway is down\.$/),
      remedy: 'whizbang resume type ChargeCard',
    },
    { remedy: 'whizbang resume intake' },
  ]);
});

it('the doctor tells of order that was broken in the last day', async () => {
  await using db = await createTestDatabase();
  const a = instance(db, 'a');
  const [first, second] = stream(2) as [NewMessage, NewMessage];
  await a.call(inbox.stores(first, second));
  await a.call(inbox.completes([second]));
  await db.pool.query(
    `insert into wh_order_violations (at, kind, lane, stream_id, message_id)
     values (clock_timestamp() - interval '2 days', 'too-late', 'inbox', gen_random_uuid(), gen_random_uuid())`,
  );
  const client = await db.connect();
  const found = (await examine(client, 'whizbang')).filter(({ code }) => code === 'order-broken');
  await client.end();
  expect(found).toMatchObject([{ level: 'warning', facts: { kind: 'overtook', count: 1 } }]);
});

it('the doctor takes the days of the history for no drift', async () => {
  await using db = await createTestDatabase();
  const client = await db.connect();
  await client.query('select wh_keep_history(7)');
  const found = await examine(client, 'whizbang');
  await client.end();
  expect(found.filter(({ code }) => code === 'drift')).toEqual([]);
});
