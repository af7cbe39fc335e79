// `whizbang tail` and `whizbang dev`: programs that run until they are interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { expireLeases, inbox, instance, message, silence, stream } from '../support/work.js';
import { cliProgram, runCli } from './run-cli.js';

/** Starts the command. Returns its lines as they come. */
function start(args: readonly string[], databaseUrl?: string) {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const env = databaseUrl === undefined ? inherited : { ...inherited, DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [cliProgram(), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  return { child, lines, errors };
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'close');
  child.kill('SIGINT');
  return (await ended)[0] as number | null;
}

describe('whizbang tail', () => {
  it('whizbang tail prints what happens, a line each, and ends cleanly when it is interrupted', async () => {
    await using db = await createTestDatabase();
    const [a, b] = [instance(db, 'a'), instance(db, 'b')];
    await a.call(inbox.stores(...stream(1)), { p_facts: { failed: 1 } });
    const early = await a.call(inbox.stores(message()));
    await a.call(inbox.fails(early, { dead_letter: true, error: 'before it looked' }));
    const tail = start(['tail', '--json', '--interval', '0.1'], db.connectionString);
    const told = (kind: string) =>
      tail.lines.map((line) => JSON.parse(line)).filter((each) => each.kind === kind);
    // It is watching once it tells of something that came later.
    let made = 0;
    await eventually(async () => {
      await db.pool.query(`select wh_pause('type', $1)`, [`type ${++made}`]);
      expect(told('operation').length).toBeGreaterThan(0);
    });
    await b.call();
    await eventually(() => expect(told('instance-came')).toMatchObject([{ facts: { instance_id: b.id } }]));
    const items = await b.call(inbox.stores(message({ event_type: 'ChargeCard' }), message()));
    const error = 'declined \u001b[31mred\nat pay()';
    await b.call(
      inbox.fails(items.slice(0, 1), { error, retry_after_seconds: 600 }),
      inbox.fails(items.slice(1), { error: 'for ever', dead_letter: true }),
    );
    await eventually(() => {
      expect(told('failure')).toMatchObject([
        { facts: { event_type: 'ChargeCard', attempts: 1, lane: 'inbox' } },
      ]);
      expect(told('dead-letter')).toMatchObject([{ text: expect.stringContaining('for ever') }]);
    });
    const [first, second] = await a.call(inbox.stores(...stream(2)));
    if (!first || !second) throw new Error('two messages');
    await a.call(inbox.completes([second]));
    await eventually(() =>
      expect(told('order-broken')).toMatchObject([
        { facts: { kind: 'overtook', other_id: first.message_id } },
      ]),
    );
    await a.call(inbox.completes([first]));
    await silence(db, a, -60);
    await expireLeases(db, a);
    await eventually(() => expect(told('lease-lost')).toMatchObject([{ facts: { instance_id: a.id } }]));
    await db.pool.query(`update wh_service_instances set facts = '{"failed": 5}' where instance_id = $1`, [
      a.id,
    ]);
    await eventually(() => expect(told('failures')).toMatchObject([{ facts: { count: 4 } }]));
    await silence(db, b, 100_000);
    await eventually(() => expect(told('instance-stale')).toMatchObject([{ facts: { instance_id: b.id } }]));
    await db.pool.query('select deregister_instance($1)', [b.id]);
    await eventually(() => expect(told('instance-left')).toMatchObject([{ facts: { instance_id: b.id } }]));
    expect(await interrupt(tail.child)).toBe(0);
    expect(tail.errors).toEqual([]);
    expect(tail.lines.join()).not.toContain('before it looked');
  });

  it('whizbang tail --limit ends by itself, and its text has nothing that a terminal obeys', async () => {
    await using db = await createTestDatabase();
    const tail = start(['tail', '--limit', '1', '--interval', '0.1'], db.connectionString);
    const ended = once(tail.child, 'close');
    let made = 0;
    await eventually(async () => {
      await db.pool.query(`select wh_pause('type', $1, null, E'an\\x1b[31mna')`, [`type ${++made}`]);
      expect(tail.lines).toHaveLength(1);
    });
    expect((await ended)[0]).toBe(0);
    expect(tail.lines[0]).toMatch(/^\S+ operation anna: pause type type \d+$/);
    expect(await runCli(['tail', '--interval', '0'], { DATABASE_URL: db.connectionString })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--interval'),
    });
  });
});

describe('whizbang dev', () => {
  it('whizbang dev runs a migrated database with a page over it, and keeps its data for the next run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whizbang-dev-'));
    await chmod(folder, 0o755); // as root, the server runs as another user
    try {
      const args = ['dev', '--data-dir', join(folder, 'data'), '--port', '0', '--page-port', '0', '--json'];
      for (const run of [1, 2]) {
        const dev = start(args);
        const { connectionString, schema, page } = await eventually(() => {
          expect(dev.errors).toEqual([]);
          return JSON.parse(dev.lines[0] ?? '');
        }, 20_000);
        expect(schema).toBe('whizbang');
        const [address, token] = page.split('#token=');
        expect((await fetch(`${address}api/session`)).status).toBe(401);
        const headers = { authorization: `Bearer ${token}` };
        expect(await (await fetch(`${address}api/session`, { headers })).json()).toMatchObject({
          schemas: ['whizbang'],
          mayAct: true,
        });
        expect((await fetch(`${address}api/overview`, { headers })).status).toBe(200);
        const client = new pg.Client({ connectionString });
        await client.connect();
        if (run === 1) await client.query(`select whizbang.wh_pause('type', 'kept')`);
        const { rows } = await client.query('select name from whizbang.wh_pauses');
        expect(rows).toEqual([{ name: 'kept' }]);
        await client.end();
        expect(await interrupt(dev.child)).toBe(0);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('whizbang dev --database-url migrates the database of somebody else, and starts none', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const dev = start(['dev', '--database-url', db.connectionString, '--page-port', '0']);
    await eventually(() => expect(dev.lines.join('\n')).toContain('Schema whizbang installed'));
    await eventually(() =>
      expect(dev.lines.join('\n')).toMatch(
        /DATABASE_URL=.*\nThe page: http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}\n/,
      ),
    );
    expect(await interrupt(dev.child)).toBe(0);
    expect(dev.errors).toEqual([]);
  });
});
