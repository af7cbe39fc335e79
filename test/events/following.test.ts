// Readers of all events whose database goes away, comes back, or is not the one that they have read before.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { createWhizbang, type LoggedEvent, type Whizbang } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { migrate } from '../../src/migrate/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { memoryFolder } from '../support/memory-folder.js';
import { placed } from './shop.js';

async function read(events: AsyncIterable<LoggedEvent>): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

/** Follows all events. `ended` rejects when the follower does. */
function follow(shop: Whizbang, after?: string) {
  const abort = new AbortController();
  const found: LoggedEvent[] = [];
  const ended = (async () => {
    for await (const event of shop.events.all({ after, follow: true, signal: abort.signal }))
      found.push(event);
  })();
  ended.catch(() => {});
  return { found, ended, abort: () => abort.abort() };
}

describe('A position ahead of the store', () => {
  const refusal = (message: RegExp) => ({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(message),
    details: { option: 'after' },
  });

  it.each([false, true])(
    'a position that the store has not reached is refused (follow: %s)',
    async (isFollower) => {
      await using ours = await createTestDatabase();
      await using other = await createTestDatabase();
      await using shop = service(ours);
      await using elsewhere = service(other);
      for (const name of ['a', 'b', 'c']) {
        await elsewhere.events.append(placed(name));
        await read(elsewhere.events.all()); // a tick for each
      }
      const after = (await read(elsewhere.events.all())).at(-1)?.position;
      const reading = () => read(shop.events.all({ after, follow: isFollower }));
      await expect(reading()).rejects.toMatchObject(refusal(/after is \d+-3, .* no events yet/));
      await shop.events.append(placed('a'));
      await expect(reading()).rejects.toMatchObject(refusal(/after is \d+-3, .* newest tick is \d/));
    },
  );

  it('a follower is told when its store goes back to an earlier state', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    const follower = follow(shop);
    await eventually(() => expect(follower.found).toHaveLength(1));
    await db.pool.query('truncate wh_event_store, wh_event_streams, wh_event_ticks');
    await expect(follower.ended).rejects.toMatchObject(refusal(/after is \d+-1, /));
  });
});

describe('A follower whose database goes away', () => {
  it('a follower goes on by itself after an outage of PostgreSQL, however long, and misses nothing', async () => {
    const dataDir = await mkdtemp(join(memoryFolder(), 'whizbang-outage-'));
    const first = await startEmbeddedPostgres({ dataDir });
    const { connectionString, port } = first;
    await migrate({ connectionString });
    const told: string[] = [];
    const logger = { ...silentLogger, warn: (_facts: object, message: string) => void told.push(message) };
    await using shop = createWhizbang({ service: 'shop', connectionString, logger });
    await shop.events.append(placed('a', 1));
    const follower = follow(shop);
    await eventually(() => expect(follower.found).toHaveLength(1));
    await first.stop();
    await eventually(() =>
      expect(told).toEqual(['PostgreSQL does not answer; events.all goes on when it does']),
    );
    await using second = await startEmbeddedPostgres({ dataDir, port });
    expect(second.connectionString).toBe(connectionString);
    await shop.events.append(placed('a', 2));
    await eventually(() => expect(follower.found.map(({ version }) => version)).toEqual([1, 2]));
    expect(told[1]).toBe('PostgreSQL answers again; events.all goes on');
    follower.abort();
    await follower.ended;
    await shop.stop();
    await second.stop();
    await rm(dataDir, { recursive: true });
  });

  it('a follower whose pool was ended rejects, and does not wait for ever', async () => {
    await using db = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: db.connectionString });
    const shop = createWhizbang({ service: 'shop', pool, logger: silentLogger });
    await shop.events.append(placed('a'));
    const follower = follow(shop);
    await eventually(() => expect(follower.found).toHaveLength(1));
    await shop.stop();
    await pool.end();
    await expect(follower.ended).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  });

  it('a follower that finds no database at its beginning rejects', async () => {
    const connectionString = 'postgres://127.0.0.1:1/nowhere';
    await using shop = createWhizbang({ service: 'shop', connectionString, logger: silentLogger });
    await expect(follow(shop).ended).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  });
});
