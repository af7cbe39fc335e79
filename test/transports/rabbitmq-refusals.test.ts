import { describe, expect, it } from 'vitest';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';
import { eventually } from '../support/eventually.js';
import { hostOf, rabbitmqSubject } from './rabbitmq-services.js';
import { message, never } from './world.js';

await withBroker(rabbitmq, ({ url }) => {
  describe('RabbitMQ: what is refused, with the setting and the command', () => {
    const refused = async (given: string, options = {}) => {
      const connecting = rabbitmqTransport({ url: given, ...options }).connect(hostOf('orders'));
      return connecting.then(
        () => expect.fail('It connected.'),
        (error: unknown) => error,
      );
    };
    const withUser = (user: string, path = '') => {
      const changed = new URL(url);
      changed.username = user;
      changed.password = 'hunter2';
      changed.pathname = path;
      return changed.href;
    };

    it('wrong credentials are refused without showing the password', async () => {
      const error = await refused(withUser('guest'));

      expect(error).toMatchObject({
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining('guest'),
        hint: expect.stringContaining('rabbitmqctl authenticate_user guest'),
      });
      expect(`${JSON.stringify(error)} ${String(error)}`).not.toContain('hunter2');
    });

    it('a virtual host that does not exist is refused with the commands to make it', async () => {
      const there = new URL(url);
      there.pathname = '/no%2Fwhere';

      expect(await refused(there.href)).toMatchObject({
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining('no/where'),
        hint: expect.stringContaining('rabbitmqctl add_vhost no/where'),
        details: { option: 'url' },
      });
    });

    it('an instance that declares looks for the doctor without declaring: it makes no queue', async () => {
      await using subject = await rabbitmqSubject(url);
      const { connection } = await subject.joinWith('orders', { topology: 'declare' });
      expect(await connection.examine?.()).toEqual([]);
      expect(await connection.inspect?.()).toEqual([]);
      await connection.close();
    });

    it('an old queue with other arguments is refused, and its messages stay', async () => {
      await using subject = await rabbitmqSubject(url);
      const queue = `${subject.prefix}.orders`;
      await subject.foreign.assertQueue(queue, { durable: true });
      subject.foreign.sendToQueue(queue, Buffer.from('kept'));
      for (const topology of ['declare', 'check'] as const) {
        const joined = await subject.joinWith('orders', { topology });
        const receiving = joined.connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {});

        await expect(receiving).rejects.toMatchObject({
          code: 'INVALID_OPTION',
          message: expect.stringContaining('inequivalent arg'),
          hint: expect.stringContaining(`rabbitmqctl delete_queue ${queue}`),
        });
        await joined.connection.close();
      }
      await eventually(async () =>
        expect(await subject.foreign.checkQueue(queue)).toMatchObject({ messageCount: 1 }),
      );
    });

    it('a missing exchange and a missing queue are refused with the commands to make them', async () => {
      await using subject = await rabbitmqSubject(url);
      const missing = (what: string) => ({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`${subject.prefix}.${what}`),
        hint: expect.stringContaining(`rabbitmqadmin declare queue name=${subject.prefix}.orders`),
      });
      const none = subject.joinWith('orders', { topology: 'check' });
      await expect(none).rejects.toMatchObject(missing('commands'));

      const off = (await subject.joinWith('orders', { topology: 'off' })).connection;
      const sending = off.send([message('orders')], never);
      await expect(sending).rejects.toMatchObject(missing('events'));
      await off.close();

      await (await subject.joinWith('shop')).connection.close();
      for (const topology of ['check', 'off'] as const) {
        const { connection } = await subject.joinWith('orders', { topology });
        const receiving = connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {});
        await expect(receiving).rejects.toMatchObject(missing('orders'));
        await connection.close();
      }
    });

    it('the nodes of a cluster are tried in turn, and a half-open connection is given up', async () => {
      await using subject = await rabbitmqSubject(url);
      const gone = 'amqp://guest:guest@127.0.0.1:9';
      const through = await subject.joinWith('shop');
      const urls = [gone, through.proxy.connectionString];
      const shop = rabbitmqTransport({ urls, prefix: subject.prefix, heartbeatSeconds: 1 });
      const connection = await shop.connect(hostOf('shop'));
      expect(await connection.send([message('orders')], never)).toEqual([{ kind: 'sent' }]);

      through.proxy.moveTo(url, 'silent');
      const began = performance.now();
      await expect(connection.send([message('orders')], never)).rejects.toMatchObject({
        code: 'TRANSPORT_UNAVAILABLE',
      });
      expect(performance.now() - began).toBeLessThan(20_000);
      await connection.ready(never);
      expect(await connection.send([message('orders')], never)).toEqual([{ kind: 'sent' }]);
      await connection.close();
      await through.connection.close();
    });
  });
});
