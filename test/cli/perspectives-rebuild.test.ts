import { describe, expect, it } from 'vitest';
import { barOf, lineOf } from '../../src/cli/commands/perspectives-rebuild.js';
import { streamIdOf } from '../../src/index.js';
import { placed } from '../events/shop.js';
import { orders, rowsOf } from '../perspectives/support/orders.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { runCli } from './run-cli.js';

describe('whizbang perspectives', () => {
  it('whizbang perspectives rebuild, diff and switch use the work of a running instance', async () => {
    await using db = await createTestDatabase();
    const env = { DATABASE_URL: db.connectionString };
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    for (let i = 0; i < 5; i++) await shop.events.append(placed(`o${i}`, i));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(5));

    const unasked = await runCli(['perspectives', 'rebuild', 'orders'], env);
    expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    const built = await runCli(['perspectives', 'rebuild', 'orders', '--yes', '--beside'], env);
    expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(built.stdout).toMatch(/orders@1\.2 is ready, beside\.\n$/);

    const equal = await runCli(['perspectives', 'diff', 'orders'], env);
    expect(equal.stdout).toBe('orders@1 and orders@1.2 are equal.\n');
    await db.pool.query(`update orders_v1 set data = data || '{"cents": 77}' where id = $1`, [
      streamIdOf('o3'),
    ]);
    const differs = await runCli(['perspectives', 'diff', 'orders', '--json'], env);
    expect(JSON.parse(differs.stdout)).toMatchObject({
      build: 'orders@1',
      models: [{ id: streamIdOf('o3'), model: { cents: 77 }, otherModel: { cents: 3 } }],
    });

    const switched = await runCli(['perspectives', 'switch', 'orders', '--yes', '--json'], env);
    expect(switched.code).toBe(0);
    expect(JSON.parse(switched.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      build: 'orders@1.2',
      state: 'live',
      isReady: true,
    });
    const unknown = await runCli(['perspectives', 'rebuild', 'nothing', '--yes'], env);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing is no perspective') });
  });

  it('the progress of a build is a bar with its share, its speed and the time that is left', () => {
    const status = {
      build: 'orders@2',
      state: 'beside' as const,
      share: 0.5,
      eventsPerSecond: 1234.5,
      secondsLeft: 12,
      held: 1,
      instances: 2,
      isReady: false,
    };
    expect(barOf(status)).toBe(
      `[${'█'.repeat(15)}${'░'.repeat(15)}] orders@2 50 %, 1235 events/s, about 12 s left, 1 held`,
    );
    expect(lineOf({ ...status, instances: 0, held: 0 })).toBe(
      'orders@2 waits: no running instance has its code.',
    );
  });
});
