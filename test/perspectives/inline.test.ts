import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, perspective, receptor, streamIdOf } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { Order, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { rowsOf } from './support/orders.js';

const steps = perspective('steps', { model: z.object({ steps: z.array(z.number()) }), inline: true })
  .starts(OrderPlaced, ({ cents }) => ({ steps: [cents] }))
  .on(OrderPaid, (model, { cents }) => {
    if (cents < 0) throw new Error('negative');
    return { steps: [...model.steps, cents] };
  });

const PayOrder = defineCommand('PayOrder', {
  schema: z.object({ orderId: z.string(), cents: z.number() }),
  stream: ({ orderId }) => orderId,
});

describe('an inline perspective', () => {
  it('the model of an inline perspective is there when an append has returned', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [steps] });
    await shop.start();
    for (let i = 1; i <= 20; i++) {
      await shop.events.append(i === 1 ? placed('a', i) : paid('a', i));
      expect(await rowsOf(db, 'steps')).toMatchObject([{ id: streamIdOf('a'), version: String(i) }]);
    }
  });

  it('the model of an inline perspective is stored with a decision, or not at all', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [steps] });
    await shop.start();
    await shop.events.decide(Order, 'a', () => placed('a', 1));
    expect(await rowsOf(db, 'steps')).toMatchObject([{ version: '1' }]);
    const client = await db.connect();
    await client.query('begin');
    await shop.events.append(paid('a', 2), { tx: client });
    expect((await client.query('select version from steps')).rows).toEqual([{ version: '2' }]);
    await client.query('rollback');
    expect(await rowsOf(db, 'steps')).toMatchObject([{ version: '1' }]);
  });

  it('the model of an inline perspective is stored in the transaction of a receptor that publishes the event', async () => {
    await using db = await createTestDatabase();
    const seen: unknown[] = [];
    await using shop = service(db, {
      perspectives: [steps],
      receptors: [
        receptor(PayOrder, async ({ orderId, cents }, ctx) => {
          await ctx.tx.query('select 1');
          await ctx.publish(cents === 1 ? placed(orderId, cents) : paid(orderId, cents));
        }),
        receptor(OrderPaid, async () => {
          seen.push((await rowsOf<{ version: string }>(db, 'steps')).map(({ version }) => version));
        }),
      ],
    });
    await shop.start();
    await shop.send([PayOrder({ orderId: 'a', cents: 1 }), PayOrder({ orderId: 'a', cents: 2 })], {
      to: 'shop',
    });
    await eventually(() => expect(seen).toEqual([['2']]));
    const { rows } = await db.pool.query('select version::int from wh_event_store order by version');
    expect(rows).toEqual([{ version: 1 }, { version: 2 }]);
  });

  it('events that come otherwise reach inline models, and an open append to a stream holds nobody up', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [steps] });
    await using stranger = service(db);
    await shop.start();
    const client = await db.connect();
    await client.query('begin');
    await shop.events.append(placed('open', 1), { tx: client });
    await stranger.events.append([placed('a', 1), paid('a', 2)]);
    await stranger.events.append([placed('b', 1)]);
    await eventually(async () =>
      expect((await rowsOf<{ version: string }>(db, 'steps')).map(({ version }) => version).sort()).toEqual([
        '1',
        '2',
      ]),
    );
    await client.query('commit');
    expect(await rowsOf(db, 'steps')).toHaveLength(3);
  });

  it('a model that an open transaction has is tried until that has ended, and not logged as a failure', async () => {
    await using db = await createTestDatabase();
    const told: string[] = [];
    const tell = (_: object, text: string) => void told.push(text);
    const logger = { ...silentLogger, debug: tell, warn: tell, error: tell };
    await using shop = service(db, { perspectives: [steps], logger });
    await using stranger = service(db);
    await shop.start();
    await stranger.events.append(placed('a', 1));
    await eventually(async () => expect(await rowsOf(db, 'steps')).toMatchObject([{ version: '1' }]));
    await shop.stop();
    await stranger.events.append(paid('a', 2));
    const client = await db.connect();
    await client.query('begin');
    // An append beside has brought the model up to date, and does not commit.
    await client.query(`update steps_v1 set version = version`);
    await using other = service(db, { perspectives: [steps], logger });
    await other.start();
    const isBusy = 'A model is in use by an open transaction; its event comes later';
    await eventually(async () => expect(told.filter((text) => text === isBusy).length).toBeGreaterThan(1));
    await client.query('rollback');
    await eventually(async () => expect(await rowsOf(db, 'steps')).toMatchObject([{ version: '2' }]));
    expect(told.filter((text) => /held|failed/.test(text))).toEqual([]);
  });

  it('an event that an inline perspective cannot apply is appended all the same, and holds its stream there', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [steps] });
    await shop.start();
    await shop.events.append([placed('a', 1), paid('a', -1)]);
    await eventually(async () => {
      const { rows } = await db.pool.query(
        'select failed_version::int as version, error from wh_perspective_checkpoints where held',
      );
      expect(rows).toMatchObject([{ version: 2, error: expect.stringContaining('negative') }]);
    });
    expect(await rowsOf(db, 'steps')).toMatchObject([{ version: '1' }]);
  });
});
