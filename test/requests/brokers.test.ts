// A command is asked of a service in another database, over each broker, and the answer comes back the same way.
import { randomUUID } from 'node:crypto';
import { startFauxqs } from 'fauxqs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, receptor } from '../../src/index.js';
import type { Way } from '../journeys/plan.js';
import { transportOf } from '../journeys/transport-of.js';
import { service } from '../runtime/service.js';
import { withBroker } from '../support/brokers/broker.js';
import { nats, removeFromNats } from '../support/brokers/nats.js';
import { rabbitmq, removeFromRabbitmq } from '../support/brokers/rabbitmq.js';
import { ServiceBusStandIn } from '../support/brokers/service-bus/service-bus.js';
import { createTestDatabase } from '../support/database.js';

const Add = defineCommand('Add', {
  schema: z.object({ a: z.number(), b: z.number() }),
  to: 'sums',
  result: z.object({ sum: z.number() }),
});

/** The service that asks has no receptors. */
async function expectAnswers(way: Way): Promise<void> {
  await using shopDb = await createTestDatabase();
  await using sumsDb = await createTestDatabase();
  const adds = receptor(Add, async ({ a, b }) => ({ sum: a + b }));
  await using sums = service(sumsDb, {
    service: 'sums',
    transport: await transportOf(way),
    receptors: [adds],
  });
  await using shop = service(shopDb, { service: 'shop', transport: await transportOf(way) });
  await sums.start();
  await shop.start();
  const asked = [1, 2, 3].map((a) => shop.request(Add({ a, b: 10 }), { timeoutSeconds: 60 }));
  expect(await Promise.all(asked)).toEqual([{ sum: 11 }, { sum: 12 }, { sum: 13 }]);
}

describe('A request over a broker', () => {
  it('a request is answered over Azure Service Bus', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const connectionString = standIn.connectionString('root');
    await expectAnswers({ by: 'azure', connectionString, administrationUrl: standIn.administrationUrl });
  });

  it('a request is answered over SQS', async () => {
    const broker = await startFauxqs({ port: 0, logger: false });
    try {
      await expectAnswers({ by: 'sqs', endpoint: `http://127.0.0.1:${broker.port}`, topic: 'sums' });
    } finally {
      await broker.stop();
    }
  });
});

await withBroker(rabbitmq, ({ url }) => {
  it('a request is answered over RabbitMQ', async () => {
    const prefix = `sums-${randomUUID().slice(0, 8)}`;
    await expectAnswers({ by: 'rabbitmq', urls: [url], prefix });
    await removeFromRabbitmq(url, prefix, ['sums', 'shop']);
  });
});

await withBroker(nats, ({ url }) => {
  it('a request is answered over NATS', async () => {
    const prefix = `sums-${randomUUID().slice(0, 8)}`;
    await expectAnswers({ by: 'nats', servers: [url], prefix, replicas: 1 });
    await removeFromNats(url, prefix);
  });
});
