// Relays over a real RabbitMQ, and the examples in SQL and Python.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, describe, expect, it } from 'vitest';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { pageText } from '../docs/page.js';
import { withBroker } from '../support/brokers/broker.js';
import { notTried } from '../support/brokers/not-tried.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { python, startConsumer } from './support/python.js';
import { startRelay } from './support/relay-process.js';

const insert = `insert into wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
  select gen_random_uuid(), $1, 'Counted', jsonb_build_object('n', $2::int), '{"kind": "event"}',
         ('00000000-0000-4000-8000-' || lpad(s::text, 12, '0'))::uuid
  from generate_series(1, $3::int) as s`;

const isEmpty = async (db: TestDatabase) => {
  expect((await db.pool.query('select 1 from wh_outbox limit 1')).rows).toEqual([]);
};

await withBroker(rabbitmq, ({ url }) => {
  /** Queues that the tests have made: they would stay at a broker that other runs use too. */
  const queues: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'relay-'));
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    const connection = await connect(url);
    const channel = await connection.createChannel();
    for (const queue of queues) await channel.deleteQueue(queue);
    await connection.close();
  });
  const newName = (what: string) => `${what}-${randomUUID()}`;
  const relayOf = (db: TestDatabase, service: string, ...others: readonly string[]) =>
    startRelay(['--database-url', db.connectionString, '--service', service, '--to', url, ...others]);

  describe.concurrent('A relay over RabbitMQ', () => {
    it('a sending and a receiving relay that are killed lose nothing between two databases, and keep the order', async () => {
      await using till = await createTestDatabase();
      await using shop = await createTestDatabase();
      const [topic, service] = [newName('topic'), newName('shop')];
      queues.push(`whizbang.${service}`);
      const receive = () => relayOf(shop, service, '--from', url, '--listen', topic, '--lease-seconds', '2');
      const send = () => relayOf(till, 'till', '--lease-seconds', '2');
      await using receiver = receive();
      await using otherReceiver = receive();
      await using sender = send();
      await using otherSender = send();
      const all = [receiver, otherReceiver, sender, otherSender];
      await Promise.all(all.map((relay) => relay.untilLogged('Started')));

      const arrived = async () => {
        const { rows } = await shop.pool.query<{ stream_id: string; n: number }>(
          `select stream_id, (event_data ->> 'n')::int as n from wh_inbox order by sequence_order`,
        );
        return rows;
      };
      const [streams, perStream] = [30, 40];
      for (let n = 0; n < perStream; n++) {
        await till.pool.query(insert, [topic, n, streams]);
        if (n === 15) {
          await eventually(async () => expect((await arrived()).length).toBeGreaterThan(0));
          receiver.signal('SIGKILL');
        }
        if (n === 25) sender.signal('SIGKILL');
      }
      await eventually(async () => expect(await arrived()).toHaveLength(streams * perStream));
      const numbers = new Map<string, number[]>();
      for (const { stream_id, n } of await arrived())
        numbers.set(stream_id, [...(numbers.get(stream_id) ?? []), n]);
      const inOrder = Array.from({ length: perStream }, (_, n) => n);
      expect([...numbers.values()]).toEqual(Array.from({ length: streams }, () => inOrder));
      await eventually(() => isEmpty(till));
    });

    it('a relay that starts while RabbitMQ is away is not ready, and publishes when it comes', async () => {
      await using db = await createTestDatabase();
      await using proxy = await startTcpProxy(url);
      proxy.hangUpOn = Number.POSITIVE_INFINITY;
      const { connectionString: databaseUrl } = db;
      await using relay = startRelay(['--service', 'till', '--health-port', '0'], {
        DATABASE_URL: databaseUrl,
        WHIZBANG_TO: proxy.connectionString,
      });
      await relay.untilLogged('Started');
      await db.pool.query(insert, [newName('topic'), 1, 3]);
      await eventually(async () => {
        const { status, body } = await relay.get('/ready');
        expect({ status, ...JSON.parse(body) }).toMatchObject({
          status: 503,
          database: true,
          transport: false,
        });
      });
      proxy.hangUpOn = 0;
      await eventually(() => isEmpty(db));
      await eventually(async () => expect((await relay.get('/ready')).status).toBe(200));
      relay.signal('SIGTERM');
      expect(await relay.ended).toBe(0);
    });

    it('a password that RabbitMQ refuses ends the relay with 1, and is not shown', async () => {
      await using db = await createTestDatabase();
      const wrong = new URL(url);
      wrong.password = 'hush-hush';
      await using relay = startRelay([
        ...['--database-url', db.connectionString, '--service', 'till', '--to', wrong.href],
      ]);
      expect(await relay.ended).toBe(1);
      expect(await relay.stderr).not.toBe('');
      expect((await relay.stderr) + relay.printed()).not.toContain('hush');
    });

    it('a command that nobody listens to is refused, counted, and stays in the outbox to be tried again', async () => {
      await using db = await createTestDatabase();
      await using relay = relayOf(db, 'till', '--health-port', '0');
      await relay.untilLogged('Started');
      await db.pool.query(
        `insert into wh_outbox (message_id, destination, event_type, event_data, metadata)
         values (gen_random_uuid(), $1, 'DoIt', '{}', '{"kind": "command"}')`,
        [newName('nobody')],
      );
      await eventually(async () => {
        const { rows } = await db.pool.query<{ error: string; attempts: number }>(
          'select error, attempts from wh_outbox',
        );
        expect(rows[0]?.attempts).toBeGreaterThan(0);
        expect(rows[0]?.error).toContain('nobody-');
      });
      expect((await relay.get('/metrics')).body).toMatch(/^whizbang_relay_failed_total [1-9]/m);
    });

    it('the examples work together: SQL inserts, a relay publishes, and Python reads each event once and in order', async ({
      skip,
    }) => {
      if (python === undefined) {
        const reason = notTried('the example in Python', 'Install python3-pika.');
        if (process.env.CI === 'true') throw new Error(reason);
        skip(reason);
      }
      await using db = await createTestDatabase();
      const queue = newName('python');
      queues.push(queue);
      const env = { RABBITMQ_URL: url, QUEUE: queue, DATABASE: join(folder, 'events.db') };
      await using relay = relayOf(db, 'orders');
      await relay.untilLogged('Started');
      await using consumer = await startConsumer(['OrderPlaced', 'OrderPaid'], env);
      await db.pool.query(pageText('examples/relay/outbox.sql'));
      const ofOrder = async (lines: readonly string[]) => {
        const { rows } = await db.pool.query<{ id: string }>('select id from orders');
        // Other tests may publish to the same addresses.
        return lines
          .filter((line) => rows.some(({ id }) => line.includes(id)))
          .map((line) => line.split(' ')[0]);
      };
      await eventually(async () =>
        expect(await ofOrder(consumer.lines)).toEqual(['OrderPlaced', 'OrderPaid']),
      );

      // What is published while it is away waits for it.
      consumer.child.kill('SIGTERM');
      expect((await once(consumer.child, 'close'))[0]).toBe(0);
      await db.pool.query(pageText('examples/relay/outbox.sql'));
      await eventually(() => isEmpty(db));
      await using next = await startConsumer(['OrderPlaced', 'OrderPaid'], env);
      await eventually(async () => expect(await ofOrder(next.lines)).toEqual(['OrderPlaced', 'OrderPaid']));
    });
  });
});
