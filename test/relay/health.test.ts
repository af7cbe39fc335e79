import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { startBroker } from '../crashes/support/broker.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { relayArgs, startRelay } from './support/relay-process.js';

const insert = `insert into wh_outbox (message_id, destination, event_type, event_data, scheduled_for)
  select gen_random_uuid(), 'shop', 'Counted', '{}', $1 from generate_series(1, $2)`;

/** Takes connections, and never answers. */
async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `postgres://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function values(metrics: string): Record<string, number> {
  const lines = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value] = line.split(' ');
      return [name.replace('whizbang_relay_', ''), Number(value)];
    }),
  );
}

describe.concurrent('The health endpoint of a relay', () => {
  it('the health endpoint answers /live, /ready and /metrics, and nothing else', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await db.pool.query(insert, [null, 7]);
    await db.pool.query(insert, [new Date(Date.now() + 3_600_000), 2]);
    await db.pool.query("update wh_outbox set created_at = now() - interval '1 minute'");
    await using relay = startRelay(relayArgs(db.connectionString, broker.port, '--health-port', '0'));
    await relay.untilLogged('Started');
    expect(await relay.get('/live')).toEqual({ status: 200, body: '{"live":true}\n' });
    const { status, body } = await relay.get('/ready');
    expect({ status, ...JSON.parse(body) }).toEqual({
      status: 200,
      ready: true,
      state: 'running',
      database: true,
      transport: true,
    });
    await eventually(async () => {
      const metrics = values((await relay.get('/metrics')).body);
      expect(metrics).toMatchObject({
        published_total: 7,
        failed_total: 0,
        received_total: 0,
        outbox_depth: 2,
      });
      expect(metrics).toMatchObject({
        ready: 1,
        database_ready: 1,
        transport_ready: 1,
        dead_letters_total: 0,
      });
      expect(metrics.outbox_oldest_seconds).toBeGreaterThan(59);
    });
    expect((await relay.get('/metrics', 'POST')).status).toBe(405);
    expect((await relay.get('/')).status).toBe(404);
    expect((await relay.get('/live/../etc')).status).toBe(404);
    expect((await relay.get('/metrics', 'HEAD')).status).toBe(200);
  });

  it('the depth of the outbox is read once in five seconds at most, and counted to 10000', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await db.pool.query(insert, [new Date(Date.now() + 3_600_000), 10_500]);
    await using relay = startRelay(relayArgs(db.connectionString, broker.port, '--health-port', '0'));
    await relay.untilLogged('Started');
    const began = Date.now();
    const read = async () => values((await relay.get('/metrics')).body).outbox_depth;
    expect(await read()).toBe(10_000);
    await db.pool.query('delete from wh_outbox');
    const again = await Promise.all(Array.from({ length: 20 }, read));
    if (Date.now() - began < 5_000) expect(new Set(again)).toEqual(new Set([10_000]));
    await eventually(async () => expect(await read()).toBe(0));
    expect(Date.now() - began).toBeGreaterThan(5_000);
  });

  it('the metrics are without the depth where the role may not read the table, and the log says it once', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    const role = `relay_${db.name}`;
    await db.pool.query(`create role ${role} login password 'a-secret'`);
    try {
      await db.pool.query(`grant usage on schema whizbang to ${role};
        grant execute on function process_work_batch, wh_join_service, deregister_instance,
        wh_channel, wh_fall_asleep, wh_wake_up to ${role}`);
      const url = new URL(db.connectionString);
      url.username = role;
      url.password = 'a-secret';
      await using relay = startRelay(relayArgs(url.href, broker.port, '--health-port', '0'));
      await relay.untilLogged('Started');
      await db.pool.query(insert, [null, 3]);
      await eventually(async () => {
        const metrics = values((await relay.get('/metrics')).body);
        expect(metrics.published_total).toBe(3);
        expect(metrics).not.toHaveProperty('outbox_depth');
      });
      await relay.untilLogged('The depth of the outbox cannot be read');
      await db.pool.query(`grant select (sequence_order, created_at, processed_at) on wh_outbox to ${role}`);
      await eventually(async () =>
        expect(values((await relay.get('/metrics')).body)).toHaveProperty('outbox_depth', 0),
      );
      relay.signal('SIGTERM');
      expect(await relay.ended).toBe(0);
      const told = relay.lines.filter(({ message }) => message === 'The depth of the outbox cannot be read');
      expect(told).toHaveLength(1);
      expect(relay.printed()).not.toContain('a-secret');
    } finally {
      await db.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it('the metrics are told without the depth beside a database that takes connections and never answers', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using silent = await startSilentServer();
    await using network = await startTcpProxy(db.connectionString);
    await using relay = startRelay(relayArgs(network.connectionString, broker.port, '--health-port', '0'));
    await relay.untilLogged('Started');
    const metrics = async () => values((await relay.get('/metrics')).body);
    await eventually(async () => expect(await metrics()).toMatchObject({ outbox_depth: 0, ready: 1 }));

    network.moveTo(silent.url, 'silent');

    await eventually(async () => {
      const told = await metrics();
      expect(told).toMatchObject({ published_total: 0, ready: 0, database_ready: 0 });
      expect(told).not.toHaveProperty('outbox_depth');
    });
    expect((await relay.get('/live')).status).toBe(200);
    network.moveTo(db.connectionString, 'cut');
    await eventually(
      async () => expect(await metrics()).toMatchObject({ outbox_depth: 0, ready: 1 }),
      120_000,
    );
  });
});
