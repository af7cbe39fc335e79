// A build that sweeps: the next batch is read and folded while one is stored.
import { describe, expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { newMessageId } from '../../src/index.js';
import { BatchRunner } from '../../src/perspectives/index.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { rowsOf } from './support/orders.js';
import { key, origin, register, sums, unsealed } from './support/sums.js';

/** Runs the sweep as an instance does. `before` is called before each statement, and may fail it. */
async function run(db: TestDatabase, before: (statement: string) => Promise<void>): Promise<string[]> {
  const statements: string[] = [];
  const pool = {
    connect: async () => {
      const client = await db.pool.connect();
      const query = async (text: string, values: unknown[]) => {
        const name = /wh_\w+/.exec(text)?.[0] ?? text;
        statements.push(name);
        await before(name);
        // Two streams at a time.
        if (name === 'wh_take_bookmark') values[3] = '2';
        if (name === 'wh_move_bookmark') values[6] = '2';
        if (name === 'wh_read_ahead') values[4] = '2';
        return client.query(text, values);
      };
      return { query, release: (error?: Error) => client.release(error) };
    },
  };
  const runner = new BatchRunner<never>({
    pool: pool as unknown as ConnectionPool,
    schema: 'whizbang',
    leaseSeconds: 600,
    answerMs: 60_000,
    origin,
    keys: unsealed as never,
    transaction: undefined as never,
    switchOver: async () => true,
    onHeld: () => {},
  });
  for (let rounds = 0; rounds < 100; rounds++) {
    let taken = await runner.take(sums as never, key);
    while (taken?.next != null) {
      const moved = await runner.run(sums as never, { key, taken: taken as never, goesOn: () => true });
      if (moved === undefined) break;
      taken = moved;
    }
    if (taken?.next == null) return statements;
  }
  throw new Error('there is no end');
}

async function storeMany(db: TestDatabase): Promise<void> {
  await using shop = service(db);
  for (let i = 0; i < 20; i++) await shop.events.append([placed(`o${i}`, i), paid(`o${i}`, 1)]);
  await register(db);
}

describe('What is read ahead in a sweep', () => {
  it('the batch behind is read before the one before it is stored, and each is stored once', async () => {
    await using db = await createTestDatabase();
    await storeMany(db);
    const statements = await run(db, async () => {});
    expect(statements.filter((name) => name === 'wh_take_bookmark')).toHaveLength(1);
    const firstMove = statements.indexOf('wh_move_bookmark');
    expect(statements.indexOf('wh_read_ahead')).toBeLessThan(firstMove);
    expect(await rowsOf(db, 'sums')).toHaveLength(20);
  });

  it('a read ahead that fails is made again by the next look', async () => {
    await using db = await createTestDatabase();
    await storeMany(db);
    let reads = 0;
    await run(db, async (name) => {
      if (name === 'wh_read_ahead' && ++reads % 2 === 0) throw new Error('the connection is gone');
    });
    expect(await rowsOf(db, 'sums')).toHaveLength(20);
  });

  it('what was read ahead for a range is dropped when the range is divided', async () => {
    await using db = await createTestDatabase();
    await storeMany(db);
    let moves = 0;
    await run(db, async (name) => {
      if (name === 'wh_move_bookmark' && ++moves === 2) {
        await db.pool.query('update wh_perspectives set split_wanted_at = clock_timestamp()');
      }
    });
    const { rows } = await db.pool.query<{ to: number }>(
      'select to_partition as to from wh_perspective_bookmarks where from_partition = 0',
    );
    expect(rows).toEqual([{ to: 4999 }]);
    const { rows: strays } = await db.pool.query<{ strays: number }>(
      `select count(*)::int as strays from sums m
       where wh_partition(m.id, 10000) > 4999 and (select e.sequence_number from wh_event_store e where e.stream_id = m.id and version = 1)
         > (select swept from wh_perspective_bookmarks where from_partition = 5000)`,
    );
    expect(strays).toEqual([{ strays: 0 }]);
  });

  it('a bookmark that is lost while a batch is folded stores neither this one nor what was read ahead', async () => {
    await using db = await createTestDatabase();
    await storeMany(db);
    let moves = 0;
    await run(db, async (name) => {
      if (name === 'wh_move_bookmark' && ++moves === 3) {
        await db.pool.query('update wh_perspective_bookmarks set instance_id = $1, fence = fence + 1', [
          newMessageId(),
        ]);
      }
    });
    expect(await rowsOf(db, 'sums')).toHaveLength(4);
  });
});
