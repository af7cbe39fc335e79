import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isProcessAlive } from '../../src/embedded/owner.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const program = fileURLToPath(new URL('../../examples/demo.ts', import.meta.url));

interface Demo {
  readonly child: ChildProcess;
  output(): string;
  /** The processes of the warehouse. */
  pids(): number[];
  exitCode(): Promise<number | null>;
}

function startDemo(db: TestDatabase, args: readonly string[]): Demo {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    env: { ...process.env, DATABASE_URL: db.connectionString },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'close');
  return {
    child,
    output: () => output,
    pids: () => Array.from(output.matchAll(/is process (\d+)/g), ([, pid]) => Number(pid)),
    exitCode: async () => (await exited)[0] as number | null,
  };
}

async function schemasOf(db: TestDatabase): Promise<unknown[]> {
  const { rows } = await db.pool.query(
    `select nspname from pg_namespace where nspname like 'whizbang_demo%'`,
  );
  return rows;
}

/** Four processes, and a server: on a machine that is busy with twenty others their start alone takes a minute. */
const patienceMs = 280_000;

describe('The demo', { timeout: 600_000 }, () => {
  it('the demo keeps every promise with one instance killed and one stalled, and leaves nothing behind', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const demo = startDemo(db, ['--messages', '400', '--streams', '40', '--seed', '5']);
    const exitCode = await demo.exitCode();
    const output = demo.output();
    expect(output).toMatch(/warehouse-1 killed with SIGKILL, holding [1-9]/);
    expect(output).toMatch(/warehouse-2 stalled with SIGSTOP, holding [1-9]/);
    expect(output).toMatch(/^ {3}ok {3}stored +400 of 400 messages in 40 streams$/m);
    expect(output).toMatch(/^ {3}ok {3}delivered +400 of 400$/m);
    for (const claim of ['lost', 'effects doubled', 'order violations', 'left waiting']) {
      expect(output).toMatch(new RegExp(`^ {3}ok {3}${claim} +0$`, 'm'));
    }
    expect(output).toMatch(/^ {3}ok {3}recovery after the kill +\d/m);
    expect(output).toMatch(/^ {3}ok {3}late completions refused +[1-9]/m);
    expect(output).toMatch(/Everything is as promised\.\n$/);
    expect(exitCode).toBe(0);
    expect(demo.pids()).toHaveLength(3);
    expect(demo.pids().filter(isProcessAlive)).toEqual([]);
    expect(await schemasOf(db)).toEqual([]);
  });

  it('the demo ends with all its processes and schemas at a Ctrl-C', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const demo = startDemo(db, ['--messages', '1000', '--streams', '40']);
    await eventually(() => expect(demo.output()).toMatch(/handled [1-9]/), patienceMs);
    demo.child.kill('SIGINT');
    expect(await demo.exitCode()).toBe(130);
    expect(demo.output()).toMatch(/Stopped before the end\.\n$/);
    expect(demo.pids()).toHaveLength(3);
    expect(demo.pids().filter(isProcessAlive)).toEqual([]);
    expect(await schemasOf(db)).toEqual([]);
  });

  it('the demo leaves no process behind when it is killed itself, not even the stalled one', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const demo = startDemo(db, ['--messages', '2000', '--streams', '40']);
    await eventually(() => expect(demo.output()).toContain('stalled with SIGSTOP'), patienceMs);
    demo.child.kill('SIGKILL');
    await demo.exitCode();
    await eventually(() => expect(demo.pids().filter(isProcessAlive)).toEqual([]));
  });

  it('the demo refuses an option that it does not have, with exit code 1', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const demo = startDemo(db, ['--message', '1']);
    expect(await demo.exitCode()).toBe(1);
    expect(demo.output()).toBe('There is no option --message. Did you mean --messages?\n');
  });
});
