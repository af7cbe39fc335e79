// A deploy: the schema is upgraded while instances of the release before run, and new ones start beside them.

import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as today from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { releaseBefore } from './support/release-before.js';

type Release = Awaited<ReturnType<typeof releaseBefore>>;
let before: Release;
beforeAll(async () => {
  before = await releaseBefore();
});

const schema = 'whizbang';

/** The same service, as this release has it. Each effect names who did it; a second one of a message would be refused. */
function shopOf(release: Release, db: TestDatabase, by: string) {
  const options = {
    schema: z.object({ orderId: z.string(), step: z.number() }),
    stream: (message: { orderId: string }) => message.orderId,
  };
  const PlaceOrder = release.defineCommand('PlaceOrder', options);
  const OrderPlaced = release.defineEvent('OrderPlaced', options);
  const effect = 'insert into effects (id, type, order_id, step, by) values ($1, $2, $3, $4, $5)';
  const onPlace = release.receptor(PlaceOrder, async (order, { tx, envelope }) => {
    await tx.query(effect, [envelope.messageId, 'PlaceOrder', order.orderId, order.step, by]);
    return OrderPlaced(order);
  });
  const onPlaced = release.receptor(OrderPlaced, async (order, { tx, envelope }) => {
    await tx.query(effect, [envelope.messageId, 'OrderPlaced', order.orderId, order.step, by]);
  });
  const shop = release.createWhizbang({
    service: 'shop',
    schema,
    connectionString: db.connectionString,
    receptors: [onPlace, onPlaced],
    takeoverSeconds: 0.5,
    logger: silentLogger,
  });
  const failures: unknown[] = [];
  shop.on('failure', ({ error }) => void failures.push(error));
  /** A call of this old release may be overtaken by the upgrade that it waits for: nothing has happened, and it is repeated. */
  const place = async (orderId: string, step: number) => {
    const [message, messageId] = [PlaceOrder({ orderId, step }), today.newMessageId()];
    await shop.send(message, { messageId }).catch((error: { details?: { sqlState?: string } }) => {
      expect(['42703', '42804', '42883', '0A000']).toContain(error.details?.sqlState);
      return shop.send(message, { messageId });
    });
  };
  return { shop, failures, place, PlaceOrder };
}

async function deploy() {
  const db = await createTestDatabase({ template: 'empty' });
  await before.migrate({ connectionString: db.connectionString, schema });
  await db.pool.query(
    'create table effects (n bigserial, id uuid primary key, type text, order_id text, step int, by text)',
  );
  return db;
}

async function effectsOf(
  db: TestDatabase,
): Promise<{ type: string; order_id: string; step: number; by: string }[]> {
  return (await db.pool.query('select type, order_id, step, by from effects order by n')).rows;
}

async function expectInOrder(db: TestDatabase, count: number): Promise<void> {
  await eventually(async () => expect(await effectsOf(db)).toHaveLength(count * 2), 120_000);
  const steps = new Map<string, number>();
  for (const { type, order_id, step } of await effectsOf(db)) {
    expect([type, order_id, step]).toEqual([type, order_id, (steps.get(type + order_id) ?? 0) + 1]);
    steps.set(type + order_id, step);
  }
  const { rows } = await db.pool.query('select event_type, error from whizbang.wh_dead_letters');
  expect(rows).toEqual([]);
}

const orderOf = (i: number) => `order-${i % 12}`;
const stepOf = (i: number) => Math.floor(i / 12) + 1;

describe('An old and a new release side by side', () => {
  it('an old instance goes on through the upgrade of its schema, without a failed attempt', async () => {
    await using db = await deploy();
    const old = shopOf(before, db, 'old');
    await using running = old.shop;
    await running.start();
    for (let i = 0; i < 48; i++) await old.place(orderOf(i), stepOf(i));
    const upgraded = today.migrate({ connectionString: db.connectionString, schema });
    for (let i = 48; i < 96; i++) await old.place(orderOf(i), stepOf(i));
    await upgraded;
    for (let i = 96; i < 144; i++) await old.place(orderOf(i), stepOf(i));
    await expectInOrder(db, 144);
    expect(old.failures).toEqual([]);
  });

  it('both releases send and handle messages of the same streams, each once and in order', async () => {
    await using db = await deploy();
    const old = shopOf(before, db, 'old');
    await using one = old.shop;
    await one.start();
    await today.migrate({ connectionString: db.connectionString, schema });
    const young = shopOf(today, db, 'new');
    await using other = young.shop;
    await other.start();
    let sent = 0;
    const sendRound = async () => {
      for (let end = sent + 24; sent < end; sent++) {
        await (sent % 2 === 0 ? old : young).place(orderOf(sent), stepOf(sent));
      }
    };
    await eventually(async () => {
      await sendRound();
      const handlers = new Set((await effectsOf(db)).map(({ by }) => by));
      expect([...handlers].sort()).toEqual(['new', 'old']);
    }, 60_000);
    await sendRound();
    await expectInOrder(db, sent);
    expect([...old.failures, ...young.failures]).toEqual([]);
  });

  it('what an old instance has not finished when it stops or dies is finished by a new one', async () => {
    await using db = await deploy();
    const old = shopOf(before, db, 'old');
    await old.shop.start();
    for (let i = 0; i < 240; i++) await old.place(orderOf(i), stepOf(i));
    await today.migrate({ connectionString: db.connectionString, schema });
    const young = shopOf(today, db, 'new');
    await using running = young.shop;
    await running.start();
    await old.shop.stop();
    await expectInOrder(db, 240);
    expect([...old.failures, ...young.failures]).toEqual([]);
  });

  it('a timer of a new instance fires beside an old one, and holds up nobody', async () => {
    await using db = await deploy();
    const old = shopOf(before, db, 'old');
    await using one = old.shop;
    await one.start();
    await today.migrate({ connectionString: db.connectionString, schema });
    const young = shopOf(today, db, 'new');
    await using other = young.shop;
    await other.start();
    await other.send(young.PlaceOrder({ orderId: 'a', step: 2 }), { delaySeconds: 1 });
    await old.place('a', 1);
    await expectInOrder(db, 2);
  });
});
