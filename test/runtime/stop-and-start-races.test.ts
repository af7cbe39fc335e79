import { describe, expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { inProcessTransport, postgresTransport, receptor } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Answers of calls that claim are held back until the gate opens. */
function slowPool(db: TestDatabase, isSlow: () => boolean, opened: Promise<void>): ConnectionPool {
  return {
    connect: async () => {
      const client = await db.pool.connect();
      return {
        query: async (text, values) => {
          const holdsBack = isSlow() && text.includes('process_work_batch');
          const result = await client.query(text, values);
          if (holdsBack && result.rows.length > 0) await opened;
          return result;
        },
        release: (error) => client.release(error),
      };
    },
  };
}

/** As the given one, with something before a subscription and after the end of receiving. */
function watched(
  transport: Transport,
  { beforeReceiving = async () => {}, whenStopped = () => {} },
): Transport {
  return {
    name: 'watched',
    traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
    connect: async (host) => {
      const connection = await transport.connect(host);
      return {
        send: (messages, signal) => connection.send(messages, signal),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
        receive: async (subscription, deliver) => {
          await beforeReceiving();
          const receiver = await connection.receive(subscription, deliver);
          return {
            stop: async () => {
              await receiver.stop();
              whenStopped();
            },
          };
        },
      };
    },
  };
}

describe('Stopping', () => {
  it('stop gives back what a call hands out that was under way', async () => {
    await using db = await createTestDatabase();
    let runs = 0;
    let isSlow = false;
    const answers = gate();
    const receiving = gate();
    const shop = service(db, {
      connectionString: undefined,
      pool: slowPool(db, () => isSlow, answers.opened),
      listen: false,
      pollIntervalMs: 10,
      receptors: [
        receptor(OrderPlaced, { transaction: false }, () => {
          runs++;
        }),
      ],
      transport: watched(inProcessTransport(), { whenStopped: receiving.open }),
    });
    await shop.start();
    isSlow = true;
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(async () => {
      const { rows } = await db.pool.query('select 1 from wh_inbox where instance_id is not null');
      expect(rows).toHaveLength(1);
    });
    const stopped = shop.stop();
    await receiving.opened;
    await new Promise((resolve) => setImmediate(resolve));
    answers.open();
    await stopped;
    expect(runs).toBe(0);
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
  });

  it('stop uses up no attempt of a receptor that ends when its signal aborts', async () => {
    await using db = await createTestDatabase();
    const running = gate();
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 1 } }, (_, { signal }) => {
      running.open();
      return new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const shop = await service(db, { receptors: [onPlaced], transport: inProcessTransport() }).start();
    await running.opened;
    await shop.stop({ seconds: 0 });
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
  });

  it('a stopped instance refuses a new scope', async () => {
    await using db = await createTestDatabase();
    const shop = service(db);
    await shop.stop();
    expect(() => shop.scope()).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
  });
});

describe('Starting', () => {
  it('a second start is refused, at once or later, and the instance goes on', async () => {
    await using db = await createTestDatabase();
    const handled: string[] = [];
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void handled.push(orderId));
    await using shop = service(db, { receptors: [onPlaced] });
    const refusal = { code: 'ALREADY_STARTED', message: 'shop cannot start: it is already started.' };
    const started = shop.start();
    await expect(shop.start()).rejects.toMatchObject(refusal);
    expect(await started).toBe(shop);
    await expect(shop.start()).rejects.toMatchObject(refusal);
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(handled).toEqual(['a']));
  });

  it('a start after one that failed is refused, with the reason of the failure', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { schema: 'nowhere' });
    await expect(shop.start()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    await expect(shop.start()).rejects.toMatchObject({
      code: 'DISPOSED',
      message: 'shop cannot start: it was stopped because its start failed.',
      cause: { code: 'NOT_MIGRATED' },
    });
  });

  it('an instance publishes nothing before it has subscribed, and so gets its own messages', async () => {
    await using db = await createTestDatabase();
    const handled: string[] = [];
    const subscribing = gate();
    const go = gate();
    const beforeReceiving = async () => {
      subscribing.open();
      await go.opened;
    };
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => {
      handled.push(orderId);
    });
    await using shop = service(db, {
      receptors: [onPlaced],
      transport: watched(postgresTransport(), { beforeReceiving }),
    });
    await shop.publish(OrderPlaced({ orderId: 'before' }));
    const started = shop.start();
    await subscribing.opened;
    await shop.publish(OrderPlaced({ orderId: 'meanwhile' }));
    await new Promise((resolve) => setImmediate(resolve));
    go.open();
    await started;
    await shop.publish(OrderPlaced({ orderId: 'after' }));
    await eventually(() => expect(handled).toContain('after'));
    await eventually(() => expect(handled.sort()).toEqual(['after', 'before', 'meanwhile']));
  });
});
