// Whole services over RabbitMQ, each with a database of its own: from the outbox of one to the receptors of the other.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq, removeFromRabbitmq } from '../support/brokers/rabbitmq.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

await withBroker(rabbitmq, ({ url }) => {
  describe('RabbitMQ: services with databases of their own', () => {
    it('events and commands are handled once and in order, also when the broker is away for a while', async () => {
      await using shopDb = await createTestDatabase();
      await using ordersDb = await createTestDatabase();
      await using proxy = await startTcpProxy(url);
      await ordersDb.pool.query('create table effects (n bigserial, stream text, step int)');
      const prefix = `t${randomUUID().slice(0, 8)}`;
      await using _ = {
        [Symbol.asyncDispose]: () => removeFromRabbitmq(url, prefix, ['orders', 'shop']),
      };
      const options = {
        url: proxy.connectionString,
        prefix,
        heartbeatSeconds: 2,
      };
      const insert = 'insert into effects (stream, step) values ($1, $2)';
      const receptors = [
        receptor(
          OrderPlaced,
          async ({ orderId, step }, { tx }) => void (await tx.query(insert, [orderId, step])),
        ),
        receptor(
          PlaceOrder,
          async ({ orderId, step }, { tx }) => void (await tx.query(insert, [orderId, step])),
        ),
      ];
      const instances = [1, 2].map(() =>
        service(ordersDb, { service: 'orders', receptors, transport: rabbitmqTransport(options) }),
      );
      await using first = instances[0];
      await using second = instances[1];
      await using shop = service(shopDb, { transport: rabbitmqTransport(options) });
      await first?.start();
      await second?.start();
      await shop.start();
      const streams = ['a', 'b', 'c', 'd'];

      for (let step = 1; step <= 30; step++) {
        if (step === 10) {
          proxy.hangUpOn = Number.POSITIVE_INFINITY;
          proxy.cut();
        }
        if (step === 20) proxy.hangUpOn = 0;
        if (step % 3 === 0)
          for (const orderId of streams) await shop.send(PlaceOrder({ orderId, step }), { to: 'orders' });
        else await shop.publish(streams.map((orderId) => OrderPlaced({ orderId, step })));
      }

      await eventually(async () => {
        const { rows } = await ordersDb.pool.query('select stream, step from effects order by n');
        expect(rows).toHaveLength(streams.length * 30);
        const numbers = Array.from({ length: 30 }, (_, i) => i + 1);
        for (const each of streams)
          expect(rows.filter(({ stream }) => stream === each).map(({ step }) => step)).toEqual(numbers);
      });
      expect(shop.readiness.transport).toBe(true);
    });
  });
});
