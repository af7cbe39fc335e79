import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startBroker } from '../crashes/support/broker.js';
import { createTestDatabase } from '../support/database.js';
import { relayArgs, startRelay } from './support/relay-process.js';

const folder = mkdtempSync(join(tmpdir(), 'relay-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function ending(args: readonly string[], env: Record<string, string> = {}) {
  await using relay = startRelay(args, env);
  return { code: await relay.ended, stderr: await relay.stderr, stdout: relay.printed() };
}

describe.concurrent('The command whizbang relay', () => {
  it('a setting comes from a flag, else from the environment, else from a file', async () => {
    await using db = await createTestDatabase();
    await using broker = await startBroker();
    const config = join(folder, 'relay.json');
    const wrong = 'test://127.0.0.1:1';
    writeFileSync(
      config,
      JSON.stringify({ service: 'from-file', to: wrong, databaseUrl: 'postgres://h:1/no' }),
    );
    const env = { DATABASE_URL: db.connectionString, WHIZBANG_TO: wrong, WHIZBANG_CONFIG: config };
    await using relay = startRelay(['--to', `test://127.0.0.1:${broker.port}`], env);
    expect(await relay.untilLogged('Started')).toMatchObject({
      service: 'from-file',
      schema: 'whizbang',
      level: 'info',
    });
  });

  it('a wrong flag ends the command with 2 and an error that names the flag', async () => {
    const url = 'postgres://h/d';
    const [unknown, missing, port, scheme, received] = await Promise.all([
      ending(['--servant', 'till']),
      ending(['--database-url', url, '--service', 'till']),
      ending([...relayArgs(url, 1), '--health-port', 'many']),
      ending(['--database-url', url, '--service', 'till', '--to', 'kafka://u:hush-hush@h']),
      ending([...relayArgs(url, 1), '--from', url]),
    ]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('--servant') });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--to is missing') });
    expect(missing.stderr).toContain('WHIZBANG_TO');
    expect(port).toMatchObject({ code: 2, stderr: expect.stringContaining('--health-port is "many"') });
    expect(scheme).toMatchObject({ code: 2, stderr: expect.stringContaining('--to has the scheme kafka:') });
    expect(scheme.stderr + scheme.stdout).not.toContain('hush');
    expect(received).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--from has the scheme postgres:'),
    });
  });

  it('a database that refuses the relay for good ends it with 1 and what to do', async () => {
    await using empty = await createTestDatabase({ template: 'empty' });
    await using broker = await startBroker();
    const run = await ending(relayArgs(empty.connectionString, broker.port));
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('NOT_MIGRATED') });
    expect(run.stderr).toContain('whizbang migrate');
  });

  it('a password in a URL is in no line of the log and in no error', async () => {
    await using broker = await startBroker();
    const urls = [
      'postgres://me:hush%2Fhush@127.0.0.1:1/none',
      'postgres://me@127.0.0.1:1/none?password=hush/hush',
    ];
    for (const url of urls) {
      await using relay = startRelay([
        ...['--database-url', url, '--service', 'till', '--log-level', 'debug'],
        ...['--to', `test://me:quiet-secret@127.0.0.1:${broker.port}`],
      ]);
      await relay.untilLogged('The relay cannot start yet; it tries again');
      relay.signal('SIGTERM');
      expect(await relay.ended).toBe(0);
      expect(relay.printed() + (await relay.stderr)).not.toMatch(/hush|quiet-secret/);
    }
    const refused = await ending([
      '--database-url',
      'postgres://me:hush@hush@h:bad/x',
      '--service',
      's',
      '--to',
      'test://h:1',
    ]);
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).not.toContain('hush');
  });
});
