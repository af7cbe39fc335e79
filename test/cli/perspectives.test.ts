import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heldText, statusText } from '../../src/cli/commands/perspectives.js';
import { streamIdOf } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { fragileOrders } from '../perspectives/support/poison.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { runCli } from './run-cli.js';

let db: TestDatabase;
const fragile = fragileOrders({ isCured: false });

beforeAll(async () => {
  db = await createTestDatabase();
  await using shop = service(db, { perspectives: [fragile] });
  await shop.start();
  await shop.events.append([placed('a'), paid('a', 13)]);
  await eventually(async () => expect(await shop.perspectives.held(fragile)).toHaveLength(1));
});
afterAll(() => db.drop());

const run = (...args: string[]) => runCli(['perspectives', ...args], { DATABASE_URL: db.connectionString });

describe('whizbang perspectives', () => {
  it('whizbang perspectives shows a table without colours, or JSON', async () => {
    const table = await run();
    expect(table).toMatchObject({ code: 0, stderr: '' });
    const [heads, row] = table.stdout.split('\n');
    expect(heads).toMatch(/^PERSPECTIVE +STATE +BEHIND +SECONDS +PER SECOND +LEFT +HELD +WHY$/);
    expect(row).toMatch(/^fragile@1 +live +0 +0 .* 1 +no running instance has its code, fragile@1$/);
    expect(table.stdout).not.toContain('\u001b');
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject([
      { name: 'fragile', version: 1, held: 1 },
    ]);
  });

  it('whizbang perspectives held shows what is held and why', async () => {
    const { stdout } = await run('held', 'fragile');
    expect(stdout).toContain(streamIdOf('a'));
    expect(stdout).toMatch(/ 2 +OrderPaid .*13 is not a price/);
    const json = JSON.parse((await run('held', 'fragile', '--json')).stdout) as unknown;
    expect(json).toMatchObject([{ streamId: streamIdOf('a'), version: 2 }]);
    const missing = await run('held', 'nothing');
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^INVALID_OPTION: .*nothing/),
    });
  });

  it('whizbang perspectives retry makes a held stream due by the text of its stream', async () => {
    await db.pool.query('update wh_perspective_checkpoints set retry_at = null');
    expect(await run('retry', 'fragile', 'a')).toMatchObject({
      code: 0,
      stdout: 'a is tried again in fragile.\n',
    });
    const { rows } = await db.pool.query(
      'select retry_at is not null as due from wh_perspective_checkpoints',
    );
    expect(rows).toEqual([{ due: true }]);
    expect(await run('retry', 'fragile', 'b')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('b, which is not held in fragile@1'),
    });
  });

  it('whizbang perspectives skip refuses without a terminal, and skips with --yes', async () => {
    const args = ['skip', 'fragile', 'a', '--version', '2', '--reason', 'ticket 4711'];
    const refused = await run(...args);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--yes') });
    const done = await run(...args, '--yes');
    expect(done).toMatchObject({
      code: 0,
      stderr: '',
      stdout: 'Version 2 of a is passed over in fragile.\n',
    });
    const { rows } = await db.pool.query('select skipped from wh_perspective_checkpoints');
    expect(rows).toMatchObject([
      { skipped: [{ version: 2, reason: 'ticket 4711', who: expect.stringContaining('@') }] },
    ]);
  });

  it.each([['perspectives'], ['perspectives held'], ['perspectives retry'], ['perspectives skip']])(
    'whizbang %s --help shows an example',
    async (command) => {
      const { code, stdout } = await runCli([...command.split(' '), '--help']);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`Example:\n  $ whizbang ${command}`)]);
    },
  );

  it('whizbang perspectives says in words that there is nothing to show', () => {
    expect(statusText([])).toBe('There are no perspectives.');
    expect(heldText('orders', [])).toBe('Nothing is held in orders.');
  });
});
