// What needs a node of its own: its limits are set low, its users and policies are changed, it is killed.

import { describe, expect, it } from 'vitest';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { type Broker, withBroker } from '../support/brokers/broker.js';
import { makeCertificate } from '../support/brokers/certificate.js';
import { freePort } from '../support/brokers/ports.js';
import {
  type RabbitmqNode,
  rabbitmqIsInstalled,
  startRabbitmqNode,
} from '../support/brokers/rabbitmq-node.js';
import { eventually } from '../support/eventually.js';
import { hostOf, rabbitmqSubject } from './rabbitmq-services.js';
import { expectOrder, ids, message, never, stream, World } from './world.js';

const limit = 1_048_576;
const tlsPort = await freePort();
const certificate = rabbitmqIsInstalled ? await makeCertificate() : undefined;

const node: Broker<RabbitmqNode> = {
  name: 'a RabbitMQ node of its own',
  howToTry: 'Install rabbitmq-server.',
  find: async () =>
    certificate &&
    startRabbitmqNode([
      `max_message_size = ${limit}`,
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.certfile = ${certificate.certificateFile}`,
      `ssl_options.keyfile = ${certificate.keyFile}`,
      'ssl_options.verify = verify_none',
    ]),
};

await withBroker(node, (server) => {
  const { url } = server;
  const worldOf = async () => {
    const subject = await rabbitmqSubject(url);
    return { subject, world: new World(subject) };
  };

  describe('RabbitMQ: the limits of the broker', () => {
    it('a message at the limit of its size arrives, and one byte more is refused for good', async () => {
      const { world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      await world.listen('orders');
      const ofSize = (bytes: number) => 'x'.repeat(bytes - 2); // in quotes
      const [first, tooLarge, behind] = stream('orders', 3).map((each, i) =>
        i === 1 ? { ...each, payload: ofSize(limit + 1) } : each,
      ) as [never, never, never];
      const atLimit = message('orders', { payload: ofSize(limit) });
      const others = [message('orders'), message('orders')] as const;

      const outcomes = await shop.send(first, others[0], tooLarge, atLimit, behind, others[1]);

      const kinds = ['sent', 'sent', 'failed', 'sent', 'held-back', 'sent'];
      expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
      expect(outcomes[2]).toMatchObject({
        final: true,
        error: { code: 'INVALID_MESSAGE', hint: expect.stringContaining('max_message_size') },
      });
      await world.untilStored('orders', [first, atLimit, ...others]);
      expect((await shop.send(message('orders')))[0]?.kind).toBe('sent');
    });

    it('deliveries that wait longer than consumer_timeout come again, in order', async () => {
      const set = (name: string, value: number) => `application:set_env(rabbit, ${name}, ${value})`;
      await server.control('eval', `${set('channel_tick_interval', 500)}, ${set('consumer_timeout', 3000)}.`);
      const { world: made } = await worldOf();
      await using world = made;
      const orders = await world.listen('orders', { prefetch: 3, stores: false });
      const messages = stream('orders', 6);
      await orders.sendAll(...messages);
      await orders.untilReceived(3);

      await orders.untilReceived(6);
      await server.control('eval', `${set('consumer_timeout', 1_800_000)}.`);
      await orders.deliveries[0]?.acknowledge(); // too late, and no error
      await orders.deliveries[3]?.reject(); // a channel without the time-out
      await orders.untilReceived(9);
      for (let next = 6; (await world.stored('orders')).length < 6; next++) {
        await orders.untilReceived(next + 1);
        await orders.store(orders.deliveries[next]);
      }

      expectOrder(await world.stored('orders'), messages);
    });
  });

  describe('RabbitMQ: TLS and credentials', () => {
    const secure = `amqps://guest:guest@localhost:${tlsPort}`;

    it('a connection over TLS sends and receives', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const tls = { ca: certificate?.certificate };
      const shop = await subject.joinWith('shop', { url: secure, tls } as never);
      await world.listen('orders');
      const sent = message('orders');

      const outcomes = await shop.connection.send([sent], never);

      expect(outcomes).toEqual([{ kind: 'sent' }]);
      await world.untilStored('orders', [sent]);
      await shop.connection.close();
    });

    it.each([
      ['a certificate that nobody has signed', secure],
      ['a port without TLS', url.replace('amqp:', 'amqps:')],
    ])('over TLS, %s is refused with the option that is wrong', async (_what, given) => {
      const connecting = rabbitmqTransport({ url: given }).connect(hostOf('shop'));
      await expect(connecting).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option: 'tls' } });
    });

    it('the user and the password are asked for at each connect, so that they may change', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      await server.control('add_user', 'changing', 'first');
      await server.control('set_permissions', 'changing', '.*', '.*', '.*');
      let password = 'first';
      const credentials = async () => ({ username: 'changing', password });
      const shop = await subject.joinWith('shop', { credentials });
      await world.listen('orders');

      await server.control('change_password', 'changing', 'second');
      shop.proxy.cut();
      await eventually(() =>
        expect(shop.states.at(-1)).toMatchObject({ sending: false, error: { code: 'PERMISSION_DENIED' } }),
      );
      password = 'second';
      await shop.connection.ready(never);
      const sent = message('orders');
      await shop.connection.send([sent], never);

      await world.untilStored('orders', [sent]);
      await shop.connection.close();
    });
  });

  describe('RabbitMQ: least privilege', () => {
    const patterns = {
      declare: (prefix: string) => Array(3).fill(`^${prefix}[.](commands|events|orders([.].*)?)$`),
      check: (prefix: string) => ['^$', `^${prefix}[.](commands|events)$`, `^${prefix}[.]orders([.].*)?$`],
    };

    it.each(['declare', 'check', 'off'] as const)(
      'a user with no more than the documented rights sends and receives with topology %s',
      async (topology) => {
        const { subject, world: made } = await worldOf();
        await using world = made;
        const user = `least-${topology}`;
        const rights = patterns[topology === 'declare' ? 'declare' : 'check'](subject.prefix);
        await server.control('add_user', user, 'secret');
        await server.control('set_permissions', user, ...rights);
        if (topology !== 'declare') await (await world.listen('orders')).connection.close();
        const credentials = async () => ({ username: user, password: 'secret' });

        const { connection } = await subject.joinWith('orders', { topology, credentials });
        const received: string[] = [];
        await connection.receive({ addresses: ['orders'], prefetch: 5 }, (delivery) => {
          received.push((delivery.content as { messageId: string }).messageId);
          void delivery.acknowledge();
        });
        const sent = [message('orders'), message('orders', { metadata: { kind: 'command' } })];
        expect(await connection.send(sent, never)).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);

        await eventually(() => expect(received).toEqual(ids(sent)));
        // Arguments are told only to who may configure: the doctor says so instead of finding nothing.
        const uncertain = { level: 'warning', text: expect.stringContaining('orders were not compared') };
        expect(await connection.examine?.()).toMatchObject(topology === 'declare' ? [] : [uncertain]);
        await connection.close();
      },
    );

    it('a missing right is an error with the command that grants it', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      await server.control('add_user', 'nobody', 'secret');
      await server.control('set_permissions', 'nobody', '^$', '^$', '^$');
      const credentials = async () => ({ username: 'nobody', password: 'secret' });

      const connecting = subject.joinWith('orders', { credentials });

      const pattern = `'^${subject.prefix}[.](commands|events|orders([.].*)?)$'`;
      await expect(connecting).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
        hint: expect.stringContaining(
          `rabbitmqctl set_permissions -p / nobody ${pattern} ${pattern} ${pattern}`,
        ),
      });
      await world.join('shop');
      const sender = await subject.joinWith('orders', { credentials, topology: 'off' });
      const sending = sender.connection.send([message('orders')], never);
      await expect(sending).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      await sender.connection.close();
    });
  });
});
