import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Transport, TransportHost, TransportMessage } from '../../src/transport.js';
import { startBroker } from '../crashes/support/broker.js';
import { codeBlocks, pageText, sections } from '../docs/page.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startRelay } from './support/relay-process.js';

/** Sends as a service of its own, over the broker of the test. */
async function sendAll(transport: Transport, messages: readonly TransportMessage[]): Promise<void> {
  const host = { instance: { serviceName: 'elsewhere' }, onState: () => {} } as unknown as TransportHost;
  const connection = await transport.connect(host);
  await connection.send(messages, new AbortController().signal);
  await connection.close();
}

const message = (streamId: string, n: number, address = 'shop'): TransportMessage => ({
  messageId: randomUUID(),
  address,
  type: 'PlaceOrder',
  payload: { n },
  metadata: {},
  scope: null,
  streamId,
  source: 'elsewhere',
  sequence: String(n),
  sentAt: null,
});

const startReceiving = (db: TestDatabase, port: number, ...others: readonly string[]) => {
  const url = `test://127.0.0.1:${port}`;
  return startRelay([
    ...['--database-url', db.connectionString, '--service', 'shop', '--to', url, '--from', url, ...others],
  ]);
};

/** The application that reads the inbox. */
const instance = randomUUID();

const inbox = `select event_data ->> 'n' as n, stream_id, instance_id from wh_inbox order by sequence_order`;

describe.concurrent('A relay that receives', () => {
  it('messages of a broker come into the inbox once and in stream order, and the relay claims none of them', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using relay = startReceiving(db, broker.port, '--health-port', '0');
    await relay.untilLogged('Started');
    const [a, b] = [randomUUID(), randomUUID()];
    const sent = Array.from({ length: 20 }, (_, n) => message(n % 2 === 0 ? a : b, n));
    await sendAll(broker.transport, sent);
    await sendAll(broker.transport, sent.slice(0, 5));
    await eventually(async () => expect((await relay.get('/metrics')).body).toContain('received_total 25'));
    const { rows } = await db.pool.query<{ n: string; stream_id: string; instance_id: string | null }>(inbox);
    expect(rows).toHaveLength(20);
    expect(rows.every(({ instance_id }) => instance_id === null)).toBe(true);
    for (const [stream, first] of [
      [a, 0],
      [b, 1],
    ] as const) {
      const numbers = rows.filter(({ stream_id }) => stream_id === stream).map(({ n }) => Number(n));
      expect(numbers).toEqual(Array.from({ length: 10 }, (_, i) => first + 2 * i));
    }
    const { rows: taking } = await db.pool.query('select 1 from wh_service_instances where takes_inbox');
    expect(taking).toEqual([]);
    expect(relay.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('a relay that is killed while it receives loses nothing and keeps the order', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using victim = startReceiving(db, broker.port);
    await victim.untilLogged('Started');
    const stream = randomUUID();
    const sent = Array.from({ length: 400 }, (_, n) => message(stream, n));
    const sending = sendAll(broker.transport, sent);
    await eventually(async () => expect((await db.pool.query(inbox)).rowCount).toBeGreaterThan(0));
    victim.signal('SIGKILL');
    await Promise.all([victim.ended, sending]);
    await using survivor = startReceiving(db, broker.port);
    await survivor.untilLogged('Started');
    await eventually(async () => {
      const { rows } = await db.pool.query<{ n: string }>(inbox);
      expect(rows.map(({ n }) => Number(n))).toEqual(sent.map((_, n) => n));
    });
  });

  it('a relay with --listen receives only these addresses', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using relay = startReceiving(db, broker.port, '--listen', 'topic-a', '--listen', 'topic-b');
    await relay.untilLogged('Started');
    await sendAll(broker.transport, [
      message(randomUUID(), 1, 'shop'),
      message(randomUUID(), 2, 'topic-a'),
      message(randomUUID(), 3, 'topic-b'),
    ]);
    await eventually(async () => {
      const { rows } = await db.pool.query<{ n: string }>(inbox);
      expect(rows.map(({ n }) => n)).toEqual(['2', '3']);
    });
  });

  it('the statements of the page handle each message once, in order, in the transaction of the application', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    await using relay = startReceiving(db, broker.port);
    await relay.untilLogged('Started');
    const stream = randomUUID();
    await sendAll(
      broker.transport,
      Array.from({ length: 3 }, (_, n) => message(stream, n)),
    );
    await eventually(async () => expect((await db.pool.query(inbox)).rowCount).toBe(3));
    await db.pool.query('create table orders (n int)');

    const page = pageText('docs/transports/relay.md');
    const { body = '' } = sections(page).find(({ heading }) => heading === 'Handling what arrives') ?? {};
    const [claim = '', complete = '', fail = '', leave = ''] = codeBlocks(body, 'sql').map((block) =>
      block.replaceAll(/:'instance'/g, `'${instance}'`),
    );
    const held = (await db.pool.query<{ message_id: string; event_data: { n: number } }>(claim)).rows;
    expect(held.map(({ event_data }) => event_data.n)).toEqual([0, 1, 2]);
    const [first, second, third] = held.map(({ message_id }) => message_id) as [string, string, string];

    const client = await db.connect();
    const handle = async (id: string, n: number, statement: string) => {
      await client.query('begin');
      await client.query('insert into orders values ($1)', [n]);
      const { rows } = await client.query<{ flags: number }>(statement.replaceAll(":'message'", `'${id}'`));
      await client.query(rows.length === 0 ? 'commit' : 'rollback');
      return rows.map(({ flags }) => flags & 64);
    };
    expect(await handle(first, 0, complete)).toEqual([]);
    // Its effect is gone with the transaction, and it may be completed later.
    await client.query('begin');
    await client.query('insert into orders values (1)');
    await client.query(complete.replaceAll(":'message'", `'${second}'`));
    await client.query('rollback');
    const failing = fail.replace(":'message'", `'${second}'`).replace(":'error'", "'no stock'");
    expect((await client.query(failing.replace(":'later'", `'{${third}}'`))).rows).toEqual([]);
    // It was given back with the one that failed.
    expect(await handle(third, 2, complete)).toEqual([64]);

    await eventually(async () => {
      const again = (await db.pool.query<{ message_id: string }>(claim)).rows;
      expect(again.map(({ message_id }) => message_id)).toEqual([second, third]);
    });
    expect(await handle(second, 1, complete)).toEqual([]);
    expect(await handle(third, 2, complete)).toEqual([]);
    expect((await db.pool.query('select n from orders order by n')).rows).toEqual([
      { n: 0 },
      { n: 1 },
      { n: 2 },
    ]);
    expect((await db.pool.query(inbox)).rows).toEqual([]);
    // A lease that is lost: the second completion is refused, and the effect with it.
    expect(await handle(first, 9, complete)).toEqual([64]);
    await client.query(leave);
    expect(
      (await db.pool.query(`select 1 from wh_service_instances where instance_id = '${instance}'`)).rows,
    ).toEqual([]);
  });
});
