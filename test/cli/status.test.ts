// The commands that look: they print tables, or JSON, and say by their exit code whether something is wrong.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainText } from '../../src/cli/plain-text.js';
import { streamIdOf } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inbox, instance, message, outbox, stream } from '../support/work.js';
import { cliProgram, runCli } from './run-cli.js';

let db: TestDatabase;
const held = stream(3, { stream_id: streamIdOf('order-1') });

beforeAll(async () => {
  db = await createTestDatabase();
  const a = instance(db, 'a');
  await a.call(outbox.stores(...held), {
    p_facts: { version: '0.1.0', handled: 12, failed: 1, published: 3, calls: 9 },
  });
  const [item] = await a.call(inbox.stores(message({ event_type: 'shop.Paid' })), outbox.room(0));
  await a.call(
    inbox.fails([item as never], {
      error: 'declined \u001b[31mred\u001b]0;title\u0007\nat pay()',
      retry_after_seconds: 600,
    }),
    outbox.room(0),
  );
});
afterAll(() => db.drop());

const run = (...args: string[]) => runCli(args, { DATABASE_URL: db.connectionString });

describe('whizbang status, instances and streams', () => {
  it('whizbang status shows lanes and instances as a table without colours, or as JSON', async () => {
    const table = await run('status');
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^\w+ at .*: 1 instance$/m);
    expect(table.stdout).toMatch(/^outbox +0 +1 +0 +0 +0 +0 +0 +0$/m);
    expect(table.stdout).toMatch(/^inbox +0 +0 +1 +in 10 min|in \d+ s/m);
    expect(table.stdout).toMatch(/ 12 +1 +3$/m);
    expect(table.stdout).not.toContain('\u001b');
    const json = JSON.parse((await run('status', '--json')).stdout);
    expect(json).toMatchObject({
      lanes: [
        { lane: 'outbox', leasedStreams: 1, dueStreams: 0 },
        { lane: 'inbox', scheduledStreams: 1 },
      ],
      instances: [{ version: '0.1.0', handled: 12, isStale: false }],
    });
  });

  it('whizbang status --watch prints again and again until it is interrupted', async () => {
    const child = spawn(process.execPath, [cliProgram(), 'status', '--watch', '--json'], {
      env: { ...process.env, DATABASE_URL: db.connectionString },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    for await (const text of child.stdout) {
      printed += text;
      if (printed.split('\n').length > 2) break;
    }
    child.kill('SIGINT');
    const [first, second] = printed.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)));
    expect(new Date(second.at).getTime()).toBeGreaterThan(new Date(first.at).getTime());
  });

  it('whizbang instances shows who runs, with its share and what it has done', async () => {
    const { stdout } = await run('instances');
    expect(stdout).toMatch(/host-1 +1 +0\.1\.0 .* 100 %/);
    expect(JSON.parse((await run('instances', '--json')).stdout)).toMatchObject([
      { host: 'host-1', calls: 9 },
    ]);
  });

  it('whizbang streams shows what waits, without what a terminal would obey', async () => {
    const { stdout } = await run('streams');
    expect(stdout).toContain('declined red');
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n')[1]).toMatch(/^inbox .* scheduled +in /);
    const one = JSON.parse((await run('streams', 'order-1', '--json')).stdout);
    expect(one).toMatchObject([
      { streamId: streamIdOf('order-1'), state: 'held', depth: 3, firstMessageId: held[0]?.message_id },
    ]);
  });

  it('a command ends quietly when who read it has seen enough', async () => {
    const child = spawn(process.execPath, [cliProgram(), 'status', '--watch', '--json'], {
      env: { ...process.env, DATABASE_URL: db.connectionString },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const told = text(child.stderr);
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect([(await ended)[0], await told]).toEqual([0, '']);
  });

  it('every command has an example in its help', async () => {
    const names = (help: string) =>
      [...help.matchAll(/^ {2}([a-z-]+) (?:\[|<)/gm)].map(([, name]) => name ?? '');
    const commands = names((await run('--help')).stdout.split('Commands:')[1] ?? '');
    expect(commands.length).toBeGreaterThan(20);
    const helps = await Promise.all(
      commands
        .filter((name) => name !== 'help')
        .map(async (name) => [name, (await run(name, '--help')).stdout]),
    );
    const without = helps.filter(([, help]) => !/Example:|^Commands:/m.test(help ?? ''));
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('a command names the option that is wrong', async () => {
    expect(await run('release', 'instance', 'nobody', '--yes')).toMatchObject({
      code: 1,
      stderr: 'error: It has to be a UUID.\n',
    });
    expect((await run('streams', 'nobody')).stdout).toBe('Stream nobody has no unfinished work.\n');
    expect(await run('streams', '--limit', 'many')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--limit'),
    });
    expect(await run('streams', '--lane', 'mail')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--lane'),
    });
    expect(await run('status', '--schema', 'nowhere')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT_MIGRATED'),
    });
  });
});

describe('whizbang doctor and report', () => {
  it('whizbang doctor exits with 1 if there is a fault, and says how to mend it', async () => {
    const sound = await run('doctor');
    expect(sound).toMatchObject({ code: 0, stderr: '' });
    await db.pool.query('drop index wh_outbox_unadmitted');
    const faulty = await run('doctor');
    expect(faulty.code).toBe(1);
    expect(faulty.stdout).toMatch(
      /^FAULT drift: The index .*wh_outbox_unadmitted is missing\.\n {2}→ CREATE INDEX/,
    );
    const [finding] = JSON.parse((await run('doctor', '--json')).stdout);
    await db.pool.query(finding.remedy);
    expect((await run('doctor')).code).toBe(0);
  });

  it('whizbang report holds versions, settings and counts, and no payload, host or password', async () => {
    await db.pool.query(`update wh_outbox set event_data = '{"card": "4711"}'`);
    const { code, stdout } = await run('report');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      node: process.version,
      server: expect.stringContaining('PostgreSQL'),
      status: { lanes: [{ leasedStreams: 1 }, {}] },
    });
    expect(stdout).not.toContain('4711');
    expect(stdout).not.toContain('host-1');
    const { password } = new URL(db.connectionString);
    if (password !== '') expect(stdout).not.toContain(password);
  });
});

describe('Text for a terminal', () => {
  it('plain text leaves out escapes, controls and marks that turn the direction', () => {
    expect(plainText('a\u001b[31mb\u001b[0m\u001b]0;t\u0007c\u202ed\u0000e\r\nf\u009b31mg')).toBe('abcde fg');
  });
});
