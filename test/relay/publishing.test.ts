import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { startBroker } from '../crashes/support/broker.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { relayArgs, startRelay } from './support/relay-process.js';

/** An application without Whizbang: it inserts rows, in transactions of its own. Returns the ids of each stream, in order. */
async function insertRows(pool: pg.Pool, streams: number, perStream: number): Promise<string[][]> {
  const ids: string[][] = Array.from({ length: streams }, () => []);
  for (let n = 0; n < perStream; n++) {
    const { rows } = await pool.query<{ stream: number; message_id: string }>(
      `with added as (
         insert into wh_outbox (message_id, destination, event_type, event_data, stream_id)
         select gen_random_uuid(), 'shop', 'Counted', jsonb_build_object('stream', s, 'n', $2::int),
                ('00000000-0000-4000-8000-' || lpad(s::text, 12, '0'))::uuid
         from generate_series(0, $1::int - 1) as s
         returning message_id, (event_data ->> 'stream')::int as stream)
       select * from added`,
      [streams, n],
    );
    for (const { stream, message_id } of rows) ids[stream]?.push(message_id);
  }
  return ids;
}

const isEmpty = async (pool: pg.Pool) => {
  const { rows } = await pool.query('select 1 from wh_outbox limit 1');
  expect(rows).toEqual([]);
};

describe.concurrent('Relays that publish an outbox', () => {
  it('two relays, of which one is killed, publish rows of plain SQL without a loss and in stream order', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    const args = relayArgs(db.connectionString, broker.port, '--lease-seconds', '2');
    await using victim = startRelay(args);
    await using survivor = startRelay(args);
    await Promise.all([victim.untilLogged('Started'), survivor.untilLogged('Started')]);

    const half = insertRows(db.pool, 40, 25);
    await eventually(() => expect(broker.arrived.length).toBeGreaterThan(150));
    victim.signal('SIGKILL');
    expect(await victim.ended).toBe('SIGKILL');
    const first = await half;
    const second = await insertRows(db.pool, 40, 25);

    await eventually(() => isEmpty(db.pool));
    const firstOccurrences = [...new Set(broker.arrived)];
    expect(firstOccurrences).toHaveLength(2_000);
    const place = new Map(firstOccurrences.map((id, i) => [id, i]));
    for (const [stream, ids] of first.entries()) {
      const places = [...ids, ...(second[stream] ?? [])].map((id) => place.get(id));
      expect(places).toEqual([...places].sort((a, b) => (a ?? 0) - (b ?? 0)));
    }
    survivor.signal('SIGTERM');
    expect(await survivor.ended).toBe(0);
  });

  it('two relays share the work: what one has no room for, the other takes, and never the same stream', async () => {
    await using db = await createTestDatabase();
    await using deaf = await startDeafBroker();
    await using one = startRelay(relayArgs(db.connectionString, deaf.port));
    await using two = startRelay(relayArgs(db.connectionString, deaf.port));
    await Promise.all([one.untilLogged('Started'), two.untilLogged('Started')]);
    await insertRows(db.pool, 300, 3);
    await eventually(async () => {
      const { rows } = await db.pool.query<{ relays: number; streams: number; pairs: number }>(
        `select count(distinct instance_id)::int as relays, count(distinct stream_id)::int as streams,
                count(distinct (instance_id, stream_id))::int as pairs
         from wh_outbox where instance_id is not null`,
      );
      expect(rows[0]?.relays).toBe(2);
      expect(rows[0]?.pairs).toBe(rows[0]?.streams);
    });
  });

  it('a relay that is asked to stop by SIGTERM finishes, deregisters and exits with 0', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using relay = startRelay(relayArgs(db.connectionString, broker.port));
    await relay.untilLogged('Started');
    const ids = await insertRows(db.pool, 10, 20);
    relay.signal('SIGTERM');
    expect(await relay.ended).toBe(0);
    expect(relay.lines.map(({ message }) => message)).toContain('Asked to stop');
    const { rows: instances } = await db.pool.query('select 1 from wh_service_instances');
    expect(instances).toEqual([]);
    // What it did not send is there, and nobody holds it.
    const { rows } = await db.pool.query<{ message_id: string; instance_id: string | null }>(
      'select message_id, instance_id from wh_outbox',
    );
    expect(rows.filter(({ instance_id }) => instance_id !== null)).toEqual([]);
    expect(new Set([...rows.map(({ message_id }) => message_id), ...broker.arrived])).toEqual(
      new Set(ids.flat()),
    );
  });

  it('a relay that is asked to stop by SIGINT exits with 0', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using relay = startRelay(relayArgs(db.connectionString, broker.port));
    await relay.untilLogged('Started');
    relay.signal('SIGINT');
    expect(await relay.ended).toBe(0);
  });

  it('a second signal ends a relay at once, also while it waits for its broker', async () => {
    await using db = await createTestDatabase();
    await using deaf = await startDeafBroker();
    await using relay = startRelay(relayArgs(db.connectionString, deaf.port, '--stop-seconds', '600'));
    await relay.untilLogged('Started');
    await insertRows(db.pool, 1, 1);
    await deaf.hears;
    relay.signal('SIGTERM');
    await relay.untilLogged('Asked to stop');
    relay.signal('SIGTERM');
    expect(await relay.ended).toBe(128 + 15);
  });

  it('a relay that starts while the database is away keeps trying, is not ready, and works when the database comes', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using proxy = await startTcpProxy(db.connectionString);
    proxy.hangUpOn = Number.POSITIVE_INFINITY;
    await using relay = startRelay(relayArgs(proxy.connectionString, broker.port, '--health-port', '0'));
    await relay.untilLogged('The relay cannot start yet; it tries again');
    expect(await relay.get('/live')).toMatchObject({ status: 200 });
    const { status, body } = await relay.get('/ready');
    const away = { ready: false, state: 'starting', database: false, transport: false };
    expect({ status, ...JSON.parse(body) }).toEqual({ status: 503, ...away });
    await insertRows(db.pool, 3, 3);
    proxy.hangUpOn = 0;
    await eventually(() => isEmpty(db.pool));
    await eventually(async () => expect(await relay.get('/ready')).toMatchObject({ status: 200 }));
  });

  it('a relay whose database is away can be stopped', async () => {
    await using deaf = await startDeafBroker();
    await using relay = startRelay(relayArgs('postgres://nobody@127.0.0.1:1/none', deaf.port));
    await relay.untilLogged('The relay cannot start yet; it tries again');
    relay.signal('SIGTERM');
    expect(await relay.ended).toBe(0);
  });
});

/** A broker that takes what is sent and never confirms it. */
async function startDeafBroker() {
  let hear = () => {};
  const hears = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => hear());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hears,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
