// The queries of the page for operators, run as they are written, each against what it is meant to show.
import { expect } from 'vitest';
import { z } from 'zod';
import { defineEvent, receptor } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { orders } from '../perspectives/support/orders.js';
import { arrive, deadLetters } from '../runtime/arrivals.js';
import { OrderPlaced, service } from '../runtime/service.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { it } from '../support/work.js';
import { codeBlocks, pageText } from './page.js';

const page = pageText('docs/operate/in-production.md');
const queries = new Map(codeBlocks(page, 'sql').map((sql) => [/^-- (.*)\n/.exec(sql)?.[1] ?? sql, sql]));

async function ask(db: TestDatabase, name: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.pool.query(queries.get(name) ?? `The page has no query ${name}`);
  return rows as Record<string, unknown>[];
}

it('the queries for operators show who holds messages, what waits, and who listens', async ({ db }) => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const slow = receptor(OrderPlaced, () => ended);
  await using shop = service(db, { receptors: [slow] });
  await shop.start();
  const { instanceId } = shop.coordinator.instance;
  await shop.publish(OrderPlaced({ orderId: 'a' }));
  await eventually(async () =>
    expect(await ask(db, 'holders')).toMatchObject([
      { service_name: 'shop', instance_id: instanceId, process_id: process.pid, inbox_streams: '1' },
    ]),
  );
  const Later = defineEvent('Later', { schema: z.object({}) });
  await shop.publish(Later({}), { delaySeconds: 3600, holdStream: true });
  expect(await ask(db, 'backlog')).toMatchObject([
    { lane: 'outbox', due_streams: '0', scheduled_streams: '1', oldest: null },
    { lane: 'inbox', leased_streams: '1', scheduled_streams: '0', dead_letters: '0' },
  ]);
  expect(await ask(db, 'subscriptions')).toMatchObject([
    { address: 'OrderPlaced', declared_by_instances: '1' },
    { address: 'shop' },
  ]);
  end();
});

it('the query for failures shows what is retried and what is a dead letter', async ({ db }) => {
  const retry = { attempts: 2, firstDelaySeconds: 0, jitter: 0 };
  const fails = receptor(OrderPlaced, { retry }, () => {
    throw new Error('no paper');
  });
  await using shop = service(db, { receptors: [fails] });
  await shop.start();
  await arrive(db, 'OrderPlaced', { orderId: 'a' });
  await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
  await db.pool.query(`update wh_dead_letters set source = 'outbox'`);
  await shop.stop();
  const id = await arrive(db, 'OrderPlaced', { orderId: 'b' });
  await db.pool.query(
    `update wh_inbox set attempts = 1, error = E'Error: again\\n at' where message_id = $1`,
    [id],
  );
  const told = await ask(db, 'failing');
  expect(told).toHaveLength(2);
  expect(told).toEqual(
    expect.arrayContaining([
      { what: 'retried', event_type: 'OrderPlaced', messages: '1', attempts: 1, an_error: 'Error: again' },
      {
        what: 'dead, outbox',
        event_type: 'OrderPlaced',
        messages: '1',
        attempts: 2,
        an_error: 'Error: no paper',
      },
    ]),
  );
});

it('the query for models shows the streams that a perspective lacks something of', async ({ db }) => {
  await using shop = service(db, { perspectives: [orders] });
  await shop.start();
  // A change where there is no model.
  await shop.events.append([placed('a', 1), paid('b', 1)]);
  await eventually(async () =>
    expect(await ask(db, 'behind')).toMatchObject([
      {
        perspective_name: 'orders@1',
        stream_version: '1',
        last_version: '0',
        held: true,
        failed_type: 'OrderPaid',
      },
    ]),
  );
});
