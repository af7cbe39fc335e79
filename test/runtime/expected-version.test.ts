import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor, type WhizbangError } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const quickly = { firstDelaySeconds: 0.01 };
const insert = 'insert into effects values ($1)';

async function rowsOf(db: TestDatabase, text: string): Promise<unknown[]> {
  return (await db.pool.query({ text, rowMode: 'array' })).rows.flat();
}

describe('A receptor that publishes with an expected version', () => {
  it('a receptor whose expected version does not hold is rolled back and retried', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (attempt int)');
    const failures: unknown[] = [];
    const place = receptor(PlaceOrder, { retry: quickly }, async ({ orderId }, ctx) => {
      await ctx.tx.query(insert, [ctx.attempt]);
      // The first look is out of date; the second sees what is there.
      const expectedVersion = ctx.attempt === 1 ? 0 : 1;
      await ctx.publish(OrderPlaced({ orderId, step: 2 }), { expectedVersion });
    });
    await using shop = service(db, { receptors: [place], transport: inProcessTransport() });
    shop.on('failure', (failure) => failures.push(failure));
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }), { expectedVersion: 0 });
    await arrive(db, 'PlaceOrder', { orderId: 'a' });
    await shop.start();
    await eventually(async () => expect(await rowsOf(db, 'select 1 from wh_inbox')).toEqual([]));
    expect(await rowsOf(db, 'select attempt from effects')).toEqual([2]);
    const versions = `select version::int, event_data->>'step' from wh_event_store order by version`;
    expect(await rowsOf(db, versions)).toEqual([1, '1', 2, '2']);
    expect(failures).toMatchObject([
      { attempt: 1, error: { code: 'EXPECTED_VERSION', details: { expectedVersion: 0, actualVersion: 1 } } },
    ]);
  });

  it('a message whose expected version never holds is given up, and its stream goes on', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const place = receptor(
      PlaceOrder,
      { retry: { ...quickly, isFinal: (error) => (error as WhizbangError).code === 'EXPECTED_VERSION' } },
      ({ step, orderId }, ctx) => {
        steps.push(step);
        return ctx.publish(OrderPlaced({ orderId, step }), step === 1 ? { expectedVersion: 7 } : {});
      },
    );
    for (const step of [1, 2]) await arrive(db, 'PlaceOrder', { orderId: 'a', step });
    await using shop = service(db, { receptors: [place], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect(await rowsOf(db, 'select 1 from wh_inbox')).toEqual([]));
    expect(steps).toEqual([1, 2]);
    expect(await deadLetters(db)).toMatchObject([{ event_type: 'PlaceOrder', attempts: 1 }]);
    expect(await rowsOf(db, `select event_data->>'step' from wh_event_store`)).toEqual(['2']);
  });

  it('two receptors that saw the same version append one after the other, each once', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (place text)');
    const place = (name: string) =>
      receptor(
        PlaceOrder,
        { retry: { ...quickly, maxDelaySeconds: 0.05, attempts: 1000 } },
        async ({ step }, ctx) => {
          const { rows } = await ctx.tx.query(
            `select coalesce(max(version), 0)::int as version from wh_event_store`,
          );
          const expectedVersion = (rows[0] as { version: number }).version;
          await ctx.tx.query(insert, [`${name} ${step}`]);
          await ctx.publish(OrderPlaced({ orderId: 'one and the same', step }), { expectedVersion });
        },
      );
    const instances = ['first', 'second'].map((name) =>
      service(db, { receptors: [place(name)], transport: inProcessTransport() }),
    );
    await using _first = instances[0];
    await using _second = instances[1];
    await Promise.all(instances.map((instance) => instance.start()));
    const count = 12;
    for (let step = 1; step <= count; step++) {
      await arrive(db, 'PlaceOrder', { orderId: `command ${step}`, step });
    }
    await eventually(async () => expect(await rowsOf(db, 'select 1 from wh_inbox')).toEqual([]));
    expect(await deadLetters(db)).toEqual([]);
    const versions = await rowsOf(db, 'select version::int from wh_event_store order by 1');
    expect(versions).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    expect(await rowsOf(db, 'select 1 from effects')).toHaveLength(count);
  });
});
