// Two services with a database each, over SNS and SQS.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineCommand, receptor, type Whizbang } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { startTcpProxy } from '../../coordinator/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { startAwsNetwork } from './aws-network.js';
import { freshTopic, standIn, standInUrl, transportAt, visibilitySeconds } from './sqs-subject.js';

const Step = defineCommand('Step', {
  schema: z.object({ walk: z.string(), number: z.number() }),
  stream: ({ walk }) => walk,
  to: 'orders',
});

const streams = 20;
const steps = 15;

const walks = receptor(Step, async ({ walk, number }, { tx }) => {
  await tx.query('insert into walked (walk, number) values ($1, $2)', [walk, number]);
});

async function walked(db: TestDatabase): Promise<readonly { walk: string; number: number }[]> {
  return (await db.pool.query('select walk, number from walked order by place')).rows;
}

async function expectEachOnceInOrder(db: TestDatabase, walks: readonly string[]): Promise<void> {
  const handled = await eventually(async () => {
    const rows = await walked(db);
    expect(rows.length).toBeGreaterThanOrEqual(streams * steps);
    return rows;
  });
  expect(handled).toHaveLength(streams * steps);
  for (const walk of walks) {
    const numbers = handled.filter((each) => each.walk === walk).map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: steps }, (_, number) => number));
  }
}

async function walkAll(shop: Whizbang, walks: readonly string[]): Promise<void> {
  for (let number = 0; number < steps; number++) {
    await Promise.all(walks.map((walk) => shop.send(Step({ walk, number }))));
  }
}

it('a service whose PostgreSQL is away for longer than its messages are locked loses, doubles and reorders nothing', async () => {
  await using shopDb = await createTestDatabase();
  await using ordersDb = await createTestDatabase();
  await using proxy = await startTcpProxy(ordersDb.connectionString);
  const topic = freshTopic();
  await ordersDb.pool.query('create table walked (place serial, walk text, number int)');
  const orders = (connectionString: string) =>
    createWhizbang({
      service: 'orders',
      connectionString,
      transport: transportAt(standInUrl, { topic }),
      logger: silentLogger,
      receptors: [walks],
    });
  await using first = orders(proxy.connectionString);
  await using shop = createWhizbang({
    service: 'shop',
    connectionString: shopDb.connectionString,
    transport: transportAt(standInUrl, { topic }),
    logger: silentLogger,
  });
  await first.start();
  await shop.start();
  const paths = Array.from({ length: streams }, () => randomUUID());

  const walking = walkAll(shop, paths);
  await eventually(async () => expect((await walked(ordersDb)).length).toBeGreaterThan(10));
  proxy.hangUpOn = Number.POSITIVE_INFINITY;
  proxy.cut();
  await walking;
  const locked = () =>
    standIn
      .inspectQueue(`${topic}-orders.fifo`)
      ?.messages.inflight.map(({ receiptHandle }) => receiptHandle)
      .toSorted();
  // One of each stream is on its way to a database that is not there.
  await pause(visibilitySeconds * 1_000);
  const before = locked();
  expect(before?.length).toBeGreaterThan(0);
  await pause(2 * visibilitySeconds * 1_000);
  expect(locked()).toEqual(before);
  proxy.hangUpOn = 0;

  await expectEachOnceInOrder(ordersDb, paths);
});

it('services whose AWS goes away in the middle, and an instance that is cut off, keep every stream in order', async () => {
  await using shopDb = await createTestDatabase();
  await using ordersDb = await createTestDatabase();
  await using senders = await startAwsNetwork(standInUrl);
  await using receivers = await startAwsNetwork(standInUrl);
  const topic = freshTopic();
  await ordersDb.pool.query('create table walked (place serial, walk text, number int)');
  const services: Whizbang[] = [];
  for (const url of [receivers.url, standInUrl]) {
    services.push(
      createWhizbang({
        service: 'orders',
        connectionString: ordersDb.connectionString,
        transport: transportAt(url, { topic }),
        logger: silentLogger,
        receptors: [walks],
      }),
    );
  }
  for (let i = 0; i < 2; i++) {
    services.push(
      createWhizbang({
        service: 'shop',
        connectionString: shopDb.connectionString,
        transport: transportAt(senders.url, { topic }),
        logger: silentLogger,
      }),
    );
  }
  for (const each of services) await each.start();
  const shop = services[3] as Whizbang;
  const paths = Array.from({ length: streams }, () => randomUUID());

  const walking = walkAll(shop, paths);
  await eventually(async () => expect((await walked(ordersDb)).length).toBeGreaterThan(10));
  for (const network of [senders, receivers]) {
    network.losesAnswers = true;
    await pause(300);
    network.isAway = true;
    network.cut();
    await pause(300);
    network.losesAnswers = false;
    network.isAway = false;
  }
  await walking;

  await expectEachOnceInOrder(ordersDb, paths);
  for (const each of services) await each.stop();
});
