// Relays over what has no test file of its own: another database, NATS, SQS. Each role has the rights of the page.
import { randomUUID } from 'node:crypto';
import { startFauxqs } from 'fauxqs';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { codeBlocks, pageText, sections } from '../docs/page.js';
import { natsIsInstalled, startNatsServer } from '../support/brokers/nats-server.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startRelay } from './support/relay-process.js';

const rights = sections(pageText('docs/transports/relay.md')).find(({ heading }) => heading === 'Rights');
const [always = '', ofNats = '', ofPostgres = ''] = codeBlocks(rights?.body ?? '', 'sql');

/** A database with the schema `messaging`, and a role that may only do what these grants say. */
async function startService(...grants: readonly string[]) {
  const db = await createTestDatabase({ template: 'empty' });
  await migrate({ pool: db.pool, schema: 'messaging' });
  const role = `relay_${db.name}`;
  await db.pool.query(`create role ${role} login password 'p@ss:word/'`);
  for (const grant of grants) await db.pool.query(grant.replaceAll(/\bto relay\b/g, `to ${role}`));
  const url = new URL(db.connectionString);
  url.username = role;
  url.password = encodeURIComponent('p@ss:word/');
  return {
    db,
    role,
    url: url.href,
    insert: (n: number, destination: string, metadata: object, stream = 1) =>
      db.pool.query(
        `insert into messaging.wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
         values (gen_random_uuid(), $1, 'Counted', jsonb_build_object('n', $2::int), $3,
                 ('00000000-0000-4000-8000-' || lpad($4::text, 12, '0'))::uuid)`,
        [destination, n, JSON.stringify(metadata), stream],
      ),
    arrived: () => inboxOf(db),
    [Symbol.asyncDispose]: async () => {
      await db.pool.query(`drop owned by ${role}; drop role ${role}`);
      await db.drop();
    },
  };
}

async function inboxOf(db: TestDatabase): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ n: number }>(
    `select (event_data ->> 'n')::int as n from messaging.wh_inbox order by sequence_order`,
  );
  return rows.map(({ n }) => n);
}

const start = (url: string, service: string, ...others: readonly string[]) =>
  startRelay(
    ['--service', service, '--schema', 'messaging', '--health-port', '0', '--lease-seconds', '2', ...others],
    { DATABASE_URL: url },
  );
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const [event, command] = [{ kind: 'event' }, { kind: 'command' }];

describe.concurrent('A relay', () => {
  it('a relay publishes into the inbox of another database in stream order, also after that was away', async () => {
    await using till = await startService(always, ofPostgres);
    await using ledger = await startService();
    await ledger.db.pool.query(
      `grant usage on schema messaging to ${ledger.role};
       grant execute on function messaging.wh_receive(jsonb), messaging.wh_listens(text[]) to ${ledger.role};
       select messaging.wh_subscribe(gen_random_uuid(), array['ledger', 'Counted'])`,
    );
    await using between = await startTcpProxy(ledger.url);
    const to = `${between.connectionString}?schema=messaging&name=ledger`;
    await using relay = start(till.url, 'till', '--to', to);
    await relay.untilLogged('Started');

    for (const n of numbers(0, 10))
      await till.insert(n, n % 2 === 0 ? 'ledger' : 'Counted', n % 2 === 0 ? command : event);
    await eventually(async () => expect(await ledger.arrived()).toEqual(numbers(0, 10)));

    between.hangUpOn = Number.POSITIVE_INFINITY;
    between.cut();
    for (const n of numbers(10, 20)) await till.insert(n, 'Counted', event);
    await relay.untilLogged('Another database cannot be reached; messages for it wait in the outbox');
    expect(await ledger.arrived()).toEqual(numbers(0, 10));
    between.hangUpOn = 0;
    await eventually(async () => expect(await ledger.arrived()).toEqual(numbers(0, 20)));

    await eventually(async () =>
      expect((await relay.get('/metrics')).body).toContain('whizbang_relay_published_total 20'),
    );
    relay.signal('SIGTERM');
    expect(await relay.ended).toBe(0);
    expect(relay.printed() + (await relay.stderr)).not.toMatch(/ss:word|ss%3Aword/);
  });

  it.skipIf(!natsIsInstalled)(
    'a relay publishes to NATS and receives from it, with the rights of the page',
    async () => {
      await using server = await startNatsServer();
      await using till = await startService(always);
      await using shop = await startService(always, ofNats);
      await using receiver = start(
        shop.url,
        'shop',
        '--to',
        server.url,
        '--from',
        server.url,
        '--listen',
        'shop',
        '--listen',
        'Counted',
      );
      await using sender = start(till.url, 'till', '--to', server.url);
      await Promise.all([receiver.untilLogged('Started'), sender.untilLogged('Started')]);
      await eventually(async () => expect(await receiver.get('/ready')).toMatchObject({ status: 200 }));

      for (const n of numbers(0, 20))
        await till.insert(n, n % 2 === 0 ? 'shop' : 'Counted', n % 2 === 0 ? command : event);

      await eventually(async () => expect(await shop.arrived()).toEqual(numbers(0, 20)));
    },
  );

  it('a relay publishes to SQS and receives from it, with the rights of the page', async () => {
    await using server = await startFauxqs({ port: 0, logger: false, defaultRegion: 'eu-central-1' }).then(
      (aws) => ({
        url: `sqs+http://KEY:stand-in@127.0.0.1:${aws.port}?region=eu-central-1`,
        [Symbol.asyncDispose]: () => aws.stop(),
      }),
    );
    await using till = await startService(always);
    await using shop = await startService(always);
    const service = `shop-${randomUUID()}`;
    await using receiver = start(
      shop.url,
      service,
      '--to',
      server.url,
      '--from',
      server.url,
      '--listen',
      'Counted',
    );
    await receiver.untilLogged('Started');
    await eventually(async () => expect(await receiver.get('/ready')).toMatchObject({ status: 200 }));
    await using sender = start(till.url, 'till', '--to', server.url);
    await sender.untilLogged('Started');

    for (const n of numbers(0, 10)) await till.insert(n, 'Counted', event);

    await eventually(async () => expect(await shop.arrived()).toEqual(numbers(0, 10)));
  });
});
