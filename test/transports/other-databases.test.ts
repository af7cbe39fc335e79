import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineEvent, postgresTransport } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { TransportState } from '../../src/transports/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeTransport } from './conformance.js';
import { startTwoServers, type TwoServers, twoServersSubject } from './two-servers.js';
import { expectOrder, ids, interleaved, message, never, stream, World } from './world.js';

let servers: TwoServers;
beforeAll(async () => {
  servers = await startTwoServers();
});
afterAll(() => servers[Symbol.asyncDispose]());

describeTransport('postgres between two servers', () => twoServersSubject(servers), {
  deliveries:
    'it delivers nothing: the sender puts the rows into the inbox, and leases take the place of acknowledgements',
  unreadableContent: 'what is not a message cannot be a row of the outbox',
  crash: 'crashes of a server are tried in test/crashes',
  dropMiddleOf: 'a batch is one statement for each database: all of it is committed there, or nothing',
  sizeLimit: 'a row has no limit that a message reaches',
  foreignEvents: 'a foreign program inserts a row',
  states: 'a database that is away is tried below',
  anyName: 'a service is a schema, which is there beforehand',
});

const command = (address: string, fields = {}) =>
  message(address, { metadata: { kind: 'command' }, ...fields });
const waits = {
  kind: 'held-back',
  retryAfterSeconds: expect.any(Number),
  error: { code: 'TRANSPORT_UNAVAILABLE' },
};
const isSent = { kind: expect.stringMatching(/^(sent|settled)$/) };

describe('Other databases', () => {
  it('a database that is away holds back the streams with messages for it, and nothing else', async () => {
    const subject = await twoServersSubject(servers);
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('billing', { listensTo: ['billing', 'Paid'] });
    await world.listen('orders', { listensTo: ['orders', 'Placed', 'Paid'] });
    await shop.sendAll(message('Placed'), message('Paid'), message('Seen')); // so it knows who listens to what
    const [first, ...behind] = [message('Placed'), message('Seen')].map((each) => ({
      ...each,
      streamId: '00000000-0000-7000-8000-000000000001',
    }));
    const both = message('Paid');
    const others = [message('Seen'), command('billing'), ...stream('billing', 2)];
    others[2] = { ...(others[2] as never as object), metadata: { kind: 'command' } } as never;
    others[3] = { ...(others[3] as never as object), metadata: { kind: 'command' } } as never;

    subject.between.hangUpOn = Number.POSITIVE_INFINITY;
    subject.between.cut();
    const outcomes = await shop.send(first as never, both, ...others, ...behind);
    expect(outcomes).toMatchObject([waits, waits, isSent, isSent, isSent, isSent, { kind: 'held-back' }]);
    expect(outcomes.at(-1)).not.toHaveProperty('retryAfterSeconds');
    // The second time it is known to be away, and is not asked.
    const asked = subject.between.accepted;
    expect(await shop.connection.send([both], never)).toMatchObject([waits]);
    expect(subject.between.accepted - asked).toBeLessThan(2);
    expect(ids(await world.stored('billing'))).toEqual(expect.arrayContaining(ids(others.slice(1))));

    subject.between.hangUpOn = 0;
    await eventually(async () => {
      const again = await shop.connection.send([first as never, both, ...behind], never);
      expect(again).toMatchObject([isSent, isSent, isSent]);
    });
    expect(ids(await world.stored('orders'))).toEqual(expect.arrayContaining(ids([first as never, both])));
    expect(ids(await world.stored('billing'))).toContain(both.messageId);
  });

  it('messages that another database has got, without the sender learning of it, are stored there once and in order', async () => {
    const subject = await twoServersSubject(servers);
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    await shop.sendAll(message('orders'));
    const before = ids(await world.stored('orders'));
    const messages = interleaved([stream('orders', 4), stream('orders', 4)]);
    await shop.instance.hold?.(messages);

    subject.between.loseAnswers = 1;
    const outcomes = await shop.connection.send(messages, never);
    expect(outcomes.filter(({ kind }) => kind !== 'held-back')).toEqual([]);
    await eventually(async () =>
      expect((await shop.connection.send(messages, never)).map(({ kind }) => kind)).not.toContain(
        'held-back',
      ),
    );

    const stored = (await world.stored('orders')).filter(({ messageId }) => !before.includes(messageId));
    expect(stored).toHaveLength(messages.length);
    expectOrder(stored, messages);
  });

  it('an instance starts while another database is away, and holds back only what may be for it', async () => {
    const subject = await twoServersSubject(servers);
    await using world = new World(subject);
    await world.listen('orders');
    await world.listen('billing');
    subject.between.hangUpOn = Number.POSITIVE_INFINITY;
    const states: TransportState[] = [];
    const shop = await subject.joinWith('shop', {}, { onState: (state) => states.push(state) });
    expect(states).toMatchObject([
      { sending: false, receiving: true, error: { message: expect.stringContaining('databases.orders') } },
    ]);
    const given = [command('billing'), command('orders'), message('Placed')];
    await shop.hold?.(given);

    expect(await shop.connection.send(given, never)).toMatchObject([isSent, waits, waits]);
    await shop.connection.ready(never);
    subject.between.hangUpOn = 0;
    await eventually(() => expect(states.at(-1)).toEqual({ sending: true, receiving: true }));
    expect(await shop.connection.send(given.slice(1), never)).toMatchObject([isSent, isSent]);
    await shop.connection.close();
  });

  it('a command that nobody listens to anywhere is refused, and the error names the databases', async () => {
    const subject = await twoServersSubject(servers);
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    const [unheard, heard] = [command('nobody'), command('orders')];

    const outcomes = await shop.send(unheard, heard);

    expect(outcomes).toMatchObject([
      { kind: 'failed', error: { code: 'NO_RECEIVER', message: expect.stringContaining('nor in orders') } },
      { kind: 'sent' },
    ]);
    await world.untilStored('orders', [heard]);
  });

  it('an event that services in both databases listen to reaches each of them once', async () => {
    await using world = new World(await twoServersSubject(servers));
    const shop = await world.join('shop');
    await world.listen('orders', { listensTo: ['Paid'] });
    await world.listen('billing', { listensTo: ['Paid'] });
    const events = stream('Paid', 5);

    await shop.sendAll(...events);

    expectOrder(await world.untilStored('orders', events), events);
    expectOrder(await world.untilStored('billing', events), events);
  });

  it('a message for a database that is away waits in the outbox without an attempt, and its row tells why', async () => {
    await using db = await createTestDatabase();
    const Placed = defineEvent('Placed', { schema: z.object({}) });
    const connectionString = 'postgres://postgres@127.0.0.1:1/ledger'; // nobody listens there
    const shop = createWhizbang({
      service: 'shop',
      connectionString: db.connectionString,
      transport: postgresTransport({ databases: { ledger: { connectionString } } }),
      logger: silentLogger,
    });
    const failures: unknown[] = [];
    shop.on('failure', (failure) => failures.push(failure));
    await shop.start();
    expect(shop.readiness.transport).toBe(false);
    await shop.publish(Placed({}));

    const row = async () => {
      const columns = 'attempts, error, scheduled_for, scheduled_for > now() as waits, failures';
      return (await db.pool.query(`select ${columns} from wh_outbox`)).rows[0];
    };
    const first = await eventually(async () => {
      const now = await row();
      expect(now).toMatchObject({ attempts: 0, waits: true, failures: null });
      return now;
    });
    expect(first.error).toContain('databases.ledger cannot be reached');
    // It is tried again, and waits again.
    await eventually(async () => expect((await row()).scheduled_for).not.toEqual(first.scheduled_for));
    expect(await row()).toMatchObject({ attempts: 0 });
    await shop.stop();
    expect(failures).toEqual([]);
  });
});
