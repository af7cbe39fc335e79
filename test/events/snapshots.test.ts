// A kept state is the state that a load without it has, or it is not kept.
import { describe, expect, it } from 'vitest';
import { decider, defineEvent } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { migrate } from '../../src/migrate/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { OrderPaid, OrderPlaced, paid, placed } from './shop.js';

const counting = (snapshotEvery: number) =>
  decider('Kept', { initial: { taken: 0 }, snapshotEvery }).on(OrderPlaced, ({ taken }) => ({
    taken: taken + 1,
  }));

async function keptIn(db: TestDatabase): Promise<unknown[]> {
  return (await db.pool.query('select version::int, state from wh_snapshots order by version')).rows;
}

describe.concurrent('Kept states', () => {
  it('a kept state of null is null when it is loaded, not the initial state', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Closing = decider('Closing', { initial: { n: 1 } as { n: number } | null, snapshotEvery: 1 }).on(
      OrderPlaced,
      () => null,
    );
    await shop.events.decide(Closing, 'a', () => placed('a'));
    expect(await keptIn(db)).toEqual([{ version: 1, state: null }]);
    expect(await shop.events.load(Closing, 'a')).toEqual({ state: null, version: 1 });
  });

  it('a kept state is frozen like one that was folded', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Changing = decider('Changing', { initial: { all: [] as number[] }, snapshotEvery: 1 })
      .on(OrderPlaced, ({ all }, { cents }) => ({ all: [...all, cents] }))
      .on(OrderPaid, (state, { cents }) => {
        state.all.push(cents);
        return state;
      });
    await shop.events.decide(Changing, 'a', () => placed('a'));
    const { state } = await shop.events.load(Changing, 'a');
    expect(() => state.all.push(1)).toThrow();
    await shop.events.append(paid('a'));
    await expect(shop.events.load(Changing, 'a')).rejects.toMatchObject({ code: 'FOLD_FAILED' });
  });

  it('a kept state is folded from the stored events: their time, their aggregate, the order of keys', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const initial = { at: '', of: '', customers: {} as Record<string, number> };
    const Seen = decider('Seen', { initial, snapshotEvery: 2 }).on(
      OrderPlaced,
      ({ customers }, { customer, cents }, { at, aggregateType }) => ({
        at: at.toISOString(),
        of: aggregateType,
        customers: { ...customers, [customer]: cents },
      }),
    );
    const by = (customer: string) => OrderPlaced({ orderId: 'a', customer, cents: 1 });
    await db.pool.query(`alter table wh_event_store alter created_at set default now() - interval '1 day'`);
    await shop.events.decide(Seen, 'a', () => [by('long name'), by('b')]);
    const kept = await shop.events.load(Seen, 'a');
    expect(await db.pool.query('delete from wh_snapshots')).toMatchObject({ rowCount: 1 });
    expect(JSON.stringify(await shop.events.load(Seen, 'a'))).toBe(JSON.stringify(kept));
  });

  it('a state with a bigint is not kept, and the decision is answered', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Big = decider('Big', { initial: { n: 0n }, snapshotEvery: 1 }).on(OrderPlaced, ({ n }) => ({
      n: n + 1n,
    }));
    expect(await shop.events.decide(Big, 'a', () => placed('a'))).toMatchObject({ version: 1 });
    expect(await shop.events.load(Big, 'a')).toEqual({ state: { n: 1n }, version: 1 });
    expect(await keptIn(db)).toEqual([]);
  });

  it('a state with a zero character is kept in a transaction without spoiling it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Joined = decider('Joined', { initial: { key: '' }, snapshotEvery: 1 }).on(
      OrderPlaced,
      (_, { customer, cents }) => ({ key: `${customer}\0${cents}\ud800` }),
    );
    const client = await db.connect();
    await client.query('begin');
    await shop.events.decide(Joined, 'a', () => placed('a'), { tx: client });
    await client.query('commit');
    expect(await shop.events.load(Joined, 'a')).toEqual({ state: { key: 'Ada\u0000100\ud800' }, version: 1 });
    expect((await db.pool.query('select from wh_snapshots')).rowCount).toBe(1);
  });

  it('a decision whose event cannot be folded is stored and answered, and its state is not kept', async () => {
    await using db = await createTestDatabase();
    const warnings: unknown[] = [];
    await using shop = service(db, { logger: { ...silentLogger, warn: (_, text) => warnings.push(text) } });
    const Broken = decider('Broken', { initial: { n: 0 }, snapshotEvery: 1 }).on(OrderPlaced, () => {
      throw new Error('never');
    });
    expect(await shop.events.decide(Broken, 'a', () => placed('a'))).toMatchObject({ version: 1 });
    expect(warnings).toEqual(['The state of a decider was not kept']);
    await expect(shop.events.load(Broken, 'a')).rejects.toMatchObject({ code: 'FOLD_FAILED' });
  });

  it('a state that was kept in a transaction is rolled back with its events', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Kept = counting(2);
    const client = await db.connect();
    await client.query('begin');
    await shop.events.decide(Kept, 'a', () => [placed('a'), placed('a')], { tx: client });
    expect(await shop.events.load(Kept, 'a', { tx: client })).toEqual({ state: { taken: 2 }, version: 2 });
    await client.query('rollback');
    expect(await keptIn(db)).toEqual([]);
    expect(await shop.events.decide(Kept, 'a', () => placed('a'))).toMatchObject({ version: 1 });
    expect(await shop.events.load(Kept, 'a')).toEqual({ state: { taken: 1 }, version: 1 });
  });

  it('two services that have a decider of the same name keep states of their own', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await migrate({ connectionString: db.connectionString, schema: 'billing' });
    await using other = service(db, { service: 'billing', schema: 'billing' });
    await shop.events.decide(counting(1), 'a', () => placed('a'));
    await other.events.decide(counting(1), 'a', () => [placed('a'), placed('a')]);
    expect(await shop.events.load(counting(1), 'a')).toEqual({ state: { taken: 1 }, version: 1 });
    expect(await other.events.load(counting(1), 'a')).toEqual({ state: { taken: 2 }, version: 2 });
  });

  it('a decider never uses a state that other code of the same name has kept', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Renamed = defineEvent('Placed', { schema: OrderPlaced.schema, formerly: ['OrderPlaced'] });
    const newer = decider('Kept', { initial: { taken: 0 }, snapshotEvery: 1 }).on(
      Renamed as typeof OrderPlaced,
      ({ taken }) => ({ taken: taken + 10 }),
    );
    for (let i = 1; i <= 3; i++) {
      await shop.events.decide(counting(1), 'a', () => placed('a'));
      expect((await shop.events.load(newer, 'a')).state).toEqual({ taken: i * 20 - 10 });
      await shop.events.decide(newer, 'a', () => placed('a'));
      expect((await shop.events.load(counting(1), 'a')).state).toEqual({ taken: i * 2 });
    }
  });
});

describe.concurrent('A transaction that is not there', () => {
  it.each([undefined, null])(
    'reading and deciding with tx: %s is refused, and does nothing',
    async (none) => {
      await using db = await createTestDatabase();
      await using shop = service(db);
      const options = { tx: none as never };
      const refusal = { code: 'INVALID_OPTION', details: { option: 'tx' } };
      const Kept = counting(1);
      await expect(shop.events.decide(Kept, 'a', () => placed('a'), options)).rejects.toMatchObject(refusal);
      await expect(shop.events.load(Kept, 'a', options)).rejects.toMatchObject(refusal);
      await expect(shop.events.stream('a', options).next()).rejects.toMatchObject(refusal);
      expect((await shop.events.load(Kept, 'a')).version).toBe(0);
    },
  );

  it('an option that decide and load do not have is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const options = { expectedVersion: 3 } as never;
    const refusal = { code: 'INVALID_OPTION', details: { option: 'expectedVersion' } };
    const deciding = shop.events.decide(counting(1), 'a', () => placed('a'), options);
    await expect(deciding).rejects.toMatchObject(refusal);
    await expect(shop.events.load(counting(1), 'a', options)).rejects.toMatchObject(refusal);
  });
});
