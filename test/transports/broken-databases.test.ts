// What people break in another database while the sender runs, and repair later.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTwoServers, type TwoServers, twoServersSubject } from './two-servers.js';
import { expectOrder, message, stream, World } from './world.js';

let servers: TwoServers;
const role = `sender_${process.pid}`;
const grants = `grant usage on schema orders to ${role};
  grant execute on function orders.wh_receive(jsonb), orders.wh_listens(text[]) to ${role}`;
beforeAll(async () => {
  servers = await startTwoServers();
  await servers.far.pool.query(`create role ${role} login password 'p@ss:word/'; ${grants}`);
});
afterAll(() => servers[Symbol.asyncDispose]());

const isSent = { kind: expect.stringMatching(/^(sent|settled)$/) };
const command = (address: string, streamId: string) =>
  message(address, { metadata: { kind: 'command' }, streamId });

describe('A database that is broken while it is in use', () => {
  it.each([
    [
      'its schema is away',
      'alter schema orders rename to gone',
      'alter schema gone rename to orders',
      'NOT_MIGRATED',
    ],
    ['its schema is closed', `revoke usage on schema orders from ${role}`, grants, 'PERMISSION_DENIED'],
    [
      'its function is closed',
      `revoke execute on function orders.wh_receive(jsonb) from ${role}`,
      grants,
      'PERMISSION_DENIED',
    ],
    [
      'its function is dropped',
      'alter function orders.wh_receive(jsonb) rename to wh_received',
      'alter function orders.wh_received(jsonb) rename to wh_receive',
      'NOT_MIGRATED',
    ],
  ])(
    'a database holds back its streams without an attempt, and gets them in order, when %s',
    async (_, spoil, repair, code) => {
      const subject = await twoServersSubject(servers);
      await using world = new World({
        ...subject,
        join: (service) =>
          subject.joinWith(service, service === 'shop' ? { connectionString: asRole(subject) } : {}),
      });
      const shop = await world.join('shop');
      await world.listen('orders');
      await world.listen('billing');
      const [events, bills] = [stream('orders', 6), stream('billing', 3)];
      await shop.sendAll(...events.slice(0, 2), ...bills.slice(0, 1));

      await servers.far.pool.query(spoil);
      try {
        const [first, second, ...others] = await shop.send(...events.slice(2, 4), ...bills.slice(1));
        const error = { code, message: expect.stringContaining('databases.orders') };
        expect(first).toMatchObject({ kind: 'held-back', retryAfterSeconds: expect.any(Number), error });
        expect(JSON.stringify(first)).not.toContain('ss:word');
        expect(second).toEqual({ kind: 'held-back' });
        expect(others).toMatchObject([isSent, isSent]);
      } finally {
        await servers.far.pool.query(repair);
      }
      await eventually(async () => expect(await shop.send(events[2] as never)).toMatchObject([isSent]));
      await shop.sendAll(...events.slice(3));

      expectOrder(await world.untilStored('orders', events), events);
    },
  );
});

describe('A stream over two databases', () => {
  it('a command that nobody listens to holds back what follows it, until it has a receiver', async () => {
    await using world = new World(await twoServersSubject(servers));
    const shop = await world.join('shop');
    await world.listen('orders');
    const id = randomUUID();
    const commands = ['orders', 'billing', 'orders', 'billing', 'orders'].map((to) => command(to, id));

    expect(await shop.send(...commands)).toMatchObject([
      isSent,
      { kind: 'failed', error: { code: 'NO_RECEIVER' } },
      { kind: 'held-back' },
      { kind: 'held-back' },
      { kind: 'held-back' },
    ]);
    await world.listen('billing');
    await shop.sendAll(...commands.slice(1));

    for (const service of ['orders', 'billing']) {
      const own = commands.filter(({ address }) => address === service);
      expectOrder(await world.untilStored(service, own), own);
    }
  });
});

/** The way between the servers, as the role that may only deliver. */
function asRole({ between }: { between: { connectionString: string } }): string {
  const url = new URL(between.connectionString);
  url.username = role;
  url.password = encodeURIComponent('p@ss:word/');
  return url.href;
}
