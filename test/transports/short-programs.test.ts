import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { startFauxqs } from 'fauxqs';
import { describe, expect, it } from 'vitest';
import type { Way } from '../journeys/plan.js';
import { withBroker } from '../support/brokers/broker.js';
import { nats, removeFromNats } from '../support/brokers/nats.js';
import { rabbitmq, removeFromRabbitmq } from '../support/brokers/rabbitmq.js';
import { ServiceBusStandIn } from '../support/brokers/service-bus/service-bus.js';
import { bundled } from '../support/bundled.js';
import { createTestDatabase } from '../support/database.js';

const run = promisify(execFile);

/** Runs a service over the transport until it has stopped, and the process until it ends. */
async function expectToEnd(way: Way): Promise<void> {
  await using db = await createTestDatabase();
  const plan = JSON.stringify({ connectionString: db.connectionString, way });
  const file = bundled(new URL('short-program.ts', import.meta.url));
  const { stdout } = await run(process.execPath, [file, plan]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('stopped\n');
}

describe('A process whose service has stopped', () => {
  it('a process ends by itself when its service over PostgreSQL has stopped', () =>
    expectToEnd({ by: 'postgres', databases: {} }));

  it('a process ends by itself when its service over Azure Service Bus has stopped', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const connectionString = standIn.connectionString('root');
    await expectToEnd({ by: 'azure', connectionString, administrationUrl: standIn.administrationUrl });
  });

  it('a process ends by itself when its service over SQS has stopped', async () => {
    const broker = await startFauxqs({ port: 0, logger: false });
    try {
      await expectToEnd({ by: 'sqs', endpoint: `http://127.0.0.1:${broker.port}`, topic: 'bell' });
    } finally {
      await broker.stop();
    }
  });
});

await withBroker(rabbitmq, ({ url }) => {
  it('a process ends by itself when its service over RabbitMQ has stopped', async () => {
    const prefix = `bell-${randomUUID().slice(0, 8)}`;
    await expectToEnd({ by: 'rabbitmq', urls: [url], prefix });
    await removeFromRabbitmq(url, prefix, ['bell']);
  });
});

await withBroker(nats, ({ url }) => {
  it('a process ends by itself when its service over NATS has stopped', async () => {
    const prefix = `bell-${randomUUID().slice(0, 8)}`;
    await expectToEnd({ by: 'nats', servers: [url], prefix, replicas: 1 });
    await removeFromNats(url, prefix);
  });
});
