// `whizbang dashboard`: a page on this machine, or elsewhere with a token.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { cliProgram, runCli } from './run-cli.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function serve(args: string[], env: object = {}) {
  const child = spawn(process.execPath, [cliProgram(), 'dashboard', '--port', '0', ...args], {
    env: { ...process.env, DATABASE_URL: db.connectionString, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  const [url = '', mode] = String(printed).split(/ (.*)\n/);
  const end = async () => {
    child.kill('SIGTERM');
    return (await once(child, 'exit'))[0] as number;
  };
  return { url, mode, end };
}

describe('whizbang dashboard', () => {
  it('whizbang dashboard serves the page on this machine, read-only, until a signal', async () => {
    const { url, mode, end } = await serve([], { NODE_ENV: 'production' });
    expect([new URL(url).hostname, mode]).toEqual(['127.0.0.1', '(read-only)']);
    expect((await fetch(url)).status).toBe(200);
    expect(await (await fetch(`${url}api/session`)).json()).toMatchObject({
      mayAct: false,
      schemas: ['whizbang'],
    });
    const live = await fetch(`${url}api/live`);
    expect(live.status).toBe(200);
    expect(await end()).toBe(0);
  });

  it('whizbang dashboard takes a token, actions and several schemas', async () => {
    const { url, mode, end } = await serve(['--allow-actions', '--schema', 'a', '--schema', 'b'], {
      WHIZBANG_DASHBOARD_TOKEN: 'secret',
    });
    expect(mode).toBe('(actions allowed)');
    expect((await fetch(`${url}api/session`)).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect(await (await fetch(`${url}api/session`, { headers })).json()).toMatchObject({
      mayAct: true,
      schemas: ['a', 'b'],
    });
    expect(await end()).toBe(0);
  });

  it('whizbang dashboard refuses to listen for others without a token, and a wrong port', async () => {
    const env = { DATABASE_URL: db.connectionString };
    const open = await runCli(['dashboard', '--host', '0.0.0.0'], env);
    expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('--token') });
    expect(await runCli(['dashboard', '--port', '70000'], env)).toMatchObject({ code: 1 });
  });
});
