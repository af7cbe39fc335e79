// The steps of docs/guide/transports.md with real servers: services that share a database move to RabbitMQ under load.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { postgresTransport, receptor } from '../../src/index.js';
import { migrate } from '../../src/migrate/index.js';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { combine, type Transport } from '../../src/transport.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq, removeFromRabbitmq } from '../support/brokers/rabbitmq.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

await withBroker(rabbitmq, ({ url }) => {
  describe('Moving from PostgreSQL to RabbitMQ', () => {
    it('services move step by step under load: each message is handled once and in order', async () => {
      await using db = await createTestDatabase({ template: 'empty' });
      for (const schema of ['shop', 'orders']) await migrate({ pool: db.pool, schema });
      await db.pool.query('create table public.effects (n bigserial, stream text, step int)');
      const prefix = `t${randomUUID().slice(0, 8)}`;
      const insert = 'insert into public.effects (stream, step) values ($1, $2)';
      const receptors = [OrderPlaced, PlaceOrder].map((type) =>
        receptor(type, async ({ orderId, step }, { tx }) => void (await tx.query(insert, [orderId, step]))),
      );
      const over = {
        old: () => postgresTransport(),
        both: () => combine(postgresTransport(), rabbitmqTransport({ url, prefix })),
        new: () => rabbitmqTransport({ url, prefix }),
      } as const satisfies Record<string, () => Transport>;
      const begin = async (name: 'shop' | 'orders', stage: keyof typeof over) => {
        const options = { service: name, schema: name, transport: over[stage]() };
        const instance = service(db, name === 'orders' ? { ...options, receptors } : options);
        await instance.start();
        return instance;
      };
      const streams = ['a', 'b', 'c', 'd', 'e'];
      let step = 0;
      const sendSome = async () => {
        for (let i = 0; i < 10; i++) {
          step++;
          const orders = streams.map((orderId) => ({ orderId, step }));
          if (step % 3 === 0)
            for (const each of orders) await instances.shop.send(PlaceOrder(each), { to: 'orders' });
          else await instances.shop.publish(orders.map((each) => OrderPlaced(each)));
        }
      };
      /** One more instance, and then one less: a rolling deployment. */
      const deploy = async (name: 'shop' | 'orders', stage: keyof typeof over) => {
        const last = instances[name];
        instances[name] = await begin(name, stage);
        await sendSome();
        await last.stop();
        await sendSome();
      };
      const instances = { shop: await begin('shop', 'old'), orders: await begin('orders', 'old') };
      try {
        await sendSome();
        await deploy('shop', 'both');
        await deploy('orders', 'both');
        const { rows } = await db.pool.query('select 1 from shop.wh_outbox limit 1');
        if (rows.length > 0)
          await eventually(async () =>
            expect((await db.pool.query('select 1 from shop.wh_outbox')).rows).toEqual([]),
          );
        await deploy('shop', 'new');
        await deploy('orders', 'new');
        const expected = Array.from({ length: step }, (_, i) => i + 1);
        await eventually(async () => {
          const { rows: effects } = await db.pool.query<{ stream: string; step: number }>(
            'select stream, step from public.effects order by n',
          );
          expect(effects).toHaveLength(streams.length * step);
          for (const each of streams) {
            const steps = effects.filter(({ stream }) => stream === each).map((effect) => effect.step);
            expect(steps).toEqual(expected);
          }
        });
      } finally {
        await instances.shop.stop();
        await instances.orders.stop();
        await removeFromRabbitmq(url, prefix, ['shop', 'orders']);
      }
    });
  });
});
