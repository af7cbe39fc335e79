import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, defineEvent, streamIdOf } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { OrderPaid, paid, placed } from './shop.js';

async function storedIn(db: TestDatabase): Promise<unknown[]> {
  const text = 'select event_type, version::int from wh_event_store order by sequence_number';
  return (await db.pool.query({ text, rowMode: 'array' })).rows;
}

describe('events.append', () => {
  it('an appended event is in the store and nothing is sent', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const receipt = await shop.events.append(placed('a'));
    expect(receipt).toMatchObject({ streamId: streamIdOf('a'), version: 1, sequenceNumber: 1 });
    expect(receipt.receipts).toHaveLength(1);
    expect(await storedIn(db)).toEqual([['OrderPlaced', 1]]);
    expect((await db.pool.query('select from wh_outbox union all select from wh_inbox')).rowCount).toBe(0);
  });

  it('several events of several streams are appended in their order, and the receipt is of the last', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const receipt = await shop.events.append([placed('a'), placed('b'), paid('a')]);
    expect(receipt).toMatchObject({ streamId: streamIdOf('a'), version: 2 });
    expect(receipt.receipts.map(({ version }) => version)).toEqual([1, 1, 2]);
    expect(await storedIn(db)).toEqual([
      ['OrderPlaced', 1],
      ['OrderPlaced', 1],
      ['OrderPaid', 2],
    ]);
  });

  it('a conflict names the expected and the actual version, and keeps nothing of the call', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'), { expectedVersion: 0 });
    const second = shop.events.append([paid('a'), paid('a')], { expectedVersion: 0 });
    await expect(second).rejects.toMatchObject({
      code: 'EXPECTED_VERSION',
      retryable: true,
      details: { streamId: streamIdOf('a'), expectedVersion: 0, actualVersion: 1 },
    });
    expect(await storedIn(db)).toEqual([['OrderPlaced', 1]]);
    await shop.events.append([paid('a'), paid('a')], { expectedVersion: 1 });
    expect(await storedIn(db)).toHaveLength(3);
  });

  it('writers that expect the same version are refused with both numbers, but for one', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const writers = Array.from({ length: 16 }, () => shop.events.append(placed('a'), { expectedVersion: 0 }));
    const results = await Promise.allSettled(writers);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ details: { expectedVersion: 0, actualVersion: 1 } });
    }
    expect(await storedIn(db)).toEqual([['OrderPlaced', 1]]);
  });

  it('appends over several streams in opposite orders never deadlock', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const rounds = Array.from({ length: 200 }, (_, i) =>
      (i % 2 === 0 ? names : names.toReversed()).map((name) => placed(name)),
    );
    for (let i = 0; i < rounds.length; i += 10) {
      await Promise.all(rounds.slice(i, i + 10).map((events) => shop.events.append(events)));
    }
    const { rows } = await db.pool.query(`
      select count(*)::int as events, max(version)::int as version, (select deadlocks::int from pg_stat_database where datname = current_database())
      from wh_event_store`);
    expect(rows).toEqual([{ events: 1000, version: 200, deadlocks: 0 }]);
  });

  it('an event that is refused is named by its place, and nothing is appended', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const bad = OrderPaid({ orderId: 'a', cents: 'much' as never, paidAt: new Date() });
    await expect(shop.events.append([placed('a'), bad])).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringMatching(/^Message 1: OrderPaid/),
      details: { index: 1, issues: [{ path: 'cents' }] },
    });
    expect(await storedIn(db)).toEqual([]);
  });

  it.each([
    ['a command', defineCommand('Pay', { schema: z.object({}), to: 'shop' })({}), 'INVALID_MESSAGE'],
    ['an event without a stream', defineEvent('Ping', { schema: z.object({}) })({}), 'INVALID_OPTION'],
    ['no event at all', [], 'INVALID_OPTION'],
  ])('%s is refused', async (_, given, code) => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(shop.events.append(given as never)).rejects.toMatchObject({ code });
  });

  it('one expected version for events of two streams is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const both = shop.events.append([placed('a'), placed('b')], { expectedVersion: 0 });
    await expect(both).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'expectedVersion' },
    });
    await expect(shop.events.append(placed('a'), { tx: undefined as never })).rejects.toMatchObject({
      details: { option: 'tx' },
    });
  });
});
