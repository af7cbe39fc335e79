// The doctor looks at real brokers, and at the stand-ins of those that run in a cloud: each planted fault is found and nothing else.
import { SQS } from '@aws-sdk/client-sqs';
import { jetstreamManager } from '@nats-io/jetstream';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { azureServiceBusTransport } from '../../src/azure-service-bus.js';
import { examine, type Finding } from '../../src/doctor/index.js';
import { natsTransport } from '../../src/nats.js';
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/rabbitmq.js';
import type { Transport } from '../../src/transports/index.js';
import { runCli } from '../cli/run-cli.js';
import { withBroker } from '../support/brokers/broker.js';
import { connectTo } from '../support/brokers/nats.js';
import { natsIsInstalled, startNatsServer } from '../support/brokers/nats-server.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { instance } from '../support/work.js';
import { azureSubject } from '../transports/azure-service-bus/subject.js';
import { rabbitmqSubject } from '../transports/rabbitmq-services.js';
import { credentials, freshTopic, host, region, standInUrl, start } from '../transports/sqs/sqs-subject.js';
import { message, World } from '../transports/world.js';

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = await db.connect();
});
afterAll(() => db.drop());

const ofBrokers = /^(broker|asynchronous)/;
/** What it says of the broker. What it says of the server of the tests is another test's. */
async function look(transport: Transport, services: readonly string[] = ['orders'], over = client) {
  const findings = await examine(over, 'whizbang', { transport, services });
  return findings.filter(({ code }) => ofBrokers.test(code));
}

async function uncheckedOf(transport: Transport, services: readonly string[]) {
  const findings = await examine(client, 'whizbang', { transport, services });
  return findings.filter(({ code, text }) => code === 'unchecked' && / (queue|queues) at /.test(text));
}
const short = (findings: readonly Finding[]) => findings.map(({ level, code }) => `${level} ${code}`);

await withBroker(rabbitmq, ({ url }) => {
  describe('The doctor at RabbitMQ', () => {
    const lookingAt = (prefix: string, options: Partial<RabbitmqTransportOptions> = {}) =>
      rabbitmqTransport({ url, prefix, topology: 'check', ...options });

    it('the doctor finds nothing at a RabbitMQ whose services run, and takes no message', async () => {
      await using world = new World(await rabbitmqSubject(url));
      const subject = world.subject as Awaited<ReturnType<typeof rabbitmqSubject>>;
      const orders = await world.listen('orders', { prefetch: 1, stores: false });
      await orders.sendAll(message('orders'), message('orders'));
      await orders.untilReceived(1);
      expect(await look(lookingAt(subject.prefix))).toEqual([]);
      const [missing] = await uncheckedOf(lookingAt(subject.prefix), ['order']);
      expect(missing).toMatchObject({
        code: 'unchecked',
        text: 'The service order has no queue at rabbitmq.',
      });
    });

    it('messages that wait at RabbitMQ for a service without instances are told with their number', async () => {
      await using world = new World(await rabbitmqSubject(url));
      const { prefix } = world.subject as Awaited<ReturnType<typeof rabbitmqSubject>>;
      const shop = await world.join('shop');
      await (await world.listen('orders')).connection.close();
      await shop.sendAll(message('orders'), message('orders'));
      expect(await look(lookingAt(prefix))).toEqual([
        {
          code: 'broker-waiting',
          level: 'warning',
          text: expect.stringContaining(`2 messages wait for the service orders in ${prefix}.orders`),
          remedy: expect.stringContaining('whizbang instances'),
          facts: expect.objectContaining({ depth: 2, consumers: 0 }),
        },
      ]);
    });

    it('a queue at RabbitMQ that drops what is old is a fault, and stays as it is', async () => {
      await using subject = await rabbitmqSubject(url);
      await using world = new World(subject);
      await world.join('shop');
      const queue = `${subject.prefix}.orders`;
      const limits = { 'x-queue-type': 'quorum', 'x-message-ttl': 60_000 };
      await subject.foreign.assertQueue(queue, { durable: true, arguments: limits });
      const [found, ...others] = await look(lookingAt(subject.prefix));
      expect(others).toEqual([]);
      expect(found).toMatchObject({ code: 'broker-limits', level: 'fault' });
      expect(found?.text).toContain('inequivalent arg');
      expect(found?.remedy).toContain(`rabbitmqctl delete_queue ${queue} --if-empty`);
      await subject.foreign.assertQueue(queue, { durable: true, arguments: limits });
      await subject.foreign.deleteQueue(queue);
    });

    it('a broker that is away, or has never been used, is a fault for each service', async () => {
      const nowhere = rabbitmqTransport({ url: 'amqp://127.0.0.1:1', topology: 'check' });
      const away = await look(nowhere, ['orders', 'billing']);
      expect(short(away)).toEqual(['fault broker', 'fault broker']);
      expect(away[0]?.text).toMatch(/^The service orders cannot use rabbitmq: .*127\.0\.0\.1:1/);
      const [unused] = await look(lookingAt('never-used'));
      expect(unused).toMatchObject({ code: 'broker', text: expect.stringContaining('never-used.commands') });
    });

    it('the command looks at the broker of its URL for the services of the schema, and shows no password', async () => {
      await using world = new World(await rabbitmqSubject(url));
      const { prefix } = world.subject as Awaited<ReturnType<typeof rabbitmqSubject>>;
      await instance(db, 'a').call();
      const { rows } = await db.pool.query('select service_name from wh_instances');
      const service = rows[0]?.service_name as string;
      const shop = await world.join('shop');
      await (await world.listen(service)).connection.close();
      await shop.sendAll(message(service));
      const database = { DATABASE_URL: db.connectionString };
      const there = await runCli(['doctor', '--transport', `${url}?prefix=${prefix}`], database);
      expect(there.stdout).toMatch(
        /^rabbitmq, by its options: a message that was sent survives the loss of a machine\./,
      );
      expect(there.stdout).toContain(`1 message waits for the service ${service}`);
      const wrong = new URL(url);
      wrong.password = 'hunter22';
      const refused = await runCli(['doctor', '--json', '--transport', wrong.href], database);
      expect(refused).toMatchObject({ code: 1, stderr: '' });
      expect(JSON.parse(refused.stdout)).toContainEqual(
        expect.objectContaining({ code: 'broker', text: expect.stringContaining('its password') }),
      );
      expect(refused.stdout).not.toContain('hunter22');
    });
  });
});

describe.runIf(natsIsInstalled)('The doctor at NATS', () => {
  it('a stream at NATS on one server, a full account and messages that expire are found', async () => {
    await using server = await startNatsServer({
      config: `accounts { A { jetstream { max_file: 20KB }, users: [
        { user: a, password: b }
        { user: few, password: b, permissions { publish { deny: "$JS.API.INFO" } } }
      ] } }`,
    });
    const servers = server.url.replace('//', '//a:b@');
    const transport = natsTransport({ servers, topology: 'check' });
    await using nats = await connectTo(servers);
    const { streams } = await jetstreamManager(nats);
    const owner = await natsTransport({ servers }).connect(host('orders'));
    const [single, ...others] = await look(transport);
    expect(others).toEqual([]);
    expect(single).toMatchObject({
      code: 'broker-limits',
      level: 'warning',
      text: expect.stringContaining('is kept on one server'),
      remedy: expect.stringContaining('nats stream edit whizbang --replicas=3'),
    });
    const large = message('orders', { payload: 'x'.repeat(17_000) });
    await owner.send([large], AbortSignal.timeout(10_000));
    const full = await look(transport);
    expect(full.map(({ text }) => text)).toContainEqual(expect.stringMatching(/has used \d+ of \d+ bytes/));
    // Who may not ask for the account, as the user that the page of NATS describes, is told the rest.
    const few = natsTransport({ servers: servers.replace('a:b', 'few:b'), topology: 'check' });
    expect((await look(few)).map(({ text }) => text)).toEqual([expect.stringContaining('one server')]);
    await owner.close();
    const { config } = await streams.info('whizbang');
    await streams.update('whizbang', { ...config, max_age: 600_000_000_000 });
    const [expiring] = await look(transport);
    expect(expiring).toMatchObject({ code: 'broker', remedy: expect.stringContaining('--max-age=0') });
  });
});

describe('The doctor at the stand-ins for clouds', () => {
  it('a queue of SQS with a redrive policy is a fault, and one as it was made is none', async () => {
    const topic = freshTopic();
    await start({ topic });
    const { sqsTransport } = await import('../../src/sqs.js');
    const transport = sqsTransport({ topic, region, endpoint: standInUrl, credentials, topology: 'check' });
    expect(await look(transport)).toEqual([]);
    const sqs = new SQS({ region, endpoint: standInUrl, credentials, useQueueUrlAsEndpoint: false });
    const { QueueUrl } = await sqs.getQueueUrl({ QueueName: `${topic}-orders.fifo` });
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:${region}:000000000000:dead.fifo`,
      maxReceiveCount: 3,
    });
    await sqs.setQueueAttributes({ QueueUrl, Attributes: { RedrivePolicy } });
    expect(await look(transport)).toEqual([
      {
        code: 'broker-limits',
        level: 'fault',
        text: expect.stringContaining('has a redrive policy'),
        remedy: expect.stringContaining('aws sqs set-queue-attributes'),
      },
    ]);
  });

  it('a subscription of Azure Service Bus that gives messages up, and those that it has given up, are faults', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    await world.listen('orders');
    const transport = azureServiceBusTransport({
      connectionString: subject.standIn.connectionString('root'),
      administrationUrl: subject.standIn.administrationUrl,
      topology: 'check',
    });
    expect(await look(transport)).toEqual([]);
    expect(short(await uncheckedOf(transport, ['billing']))).toEqual(['warning unchecked']);
    const { namespace } = subject.standIn;
    const rules = { a: { to: 'a' } };
    namespace.createSubscription('whizbang', 'a', { maxDeliveryCount: 10, requiresSession: true, rules });
    subject.standIn.publish([{ body: Buffer.from('{}'), to: 'a' }]); // without a session
    const found = await look(transport, ['a']);
    expect(short(found)).toEqual(['fault broker-limits', 'fault broker-limits']);
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringContaining('gives a message up after 10 deliveries'),
      expect.stringContaining('has 1 in its dead-letter queue'),
    ]);
    expect(found[0]?.remedy).toContain('az servicebus topic subscription update');
  });
});
