// A PostgreSQL whose clock can be stepped, as when a machine's is corrected. Its processes load stepping-clock.c, which needs a C
// compiler and Linux. The clocks of those that use the server stay as they are.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/index.js';
import { memoryFolder } from './memory-folder.js';
import { searchPath } from './search-path.js';

const source = fileURLToPath(new URL('stepping-clock.c', import.meta.url));
const compiler = '/usr/bin/cc';
const run = promisify(execFile);

const obstacle = findObstacle();

/** With a C compiler: Debian's packages `gcc` and `libc6-dev`, which .ci/run installs. */
export const clockCanBeStepped = obstacle === undefined;

/** For the name of what is skipped: why it is. */
export const orWhyNot = obstacle === undefined ? '' : ` (skipped: ${obstacle})`;

interface SteppingServer extends AsyncDisposable {
  readonly connectionString: string;
  /** Its clock is from now on so many seconds ahead of the machine's, or behind it (less than zero). All of its sessions see it. */
  step(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startSteppingServer(): Promise<SteppingServer> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-clock-'));
  const [library, file] = [join(folder, 'stepping-clock.so'), join(folder, 'offset')];
  await run(compiler, ['-shared', '-fPIC', '-O2', '-o', library, source]);
  await writeFile(file, offsetOf(0));
  // The server may run as another user, whatever the umask of this one is.
  for (const path of [folder, library, file]) await chmod(path, 0o755);
  const server = await startWith({ LD_PRELOAD: library, STEPPING_CLOCK_FILE: file });
  const { connectionString } = server;
  const old = new pg.Client({ connectionString });
  old.on('error', () => {});
  await old.connect();
  const stop = async () => {
    await old.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    connectionString,
    step: async (seconds) => {
      // Written over, not anew: the processes have mapped this very file.
      const offset = await open(file, 'r+');
      await offset.write(offsetOf(seconds), 0, 8, 0);
      await offset.close();
      const fresh = new pg.Client({ connectionString });
      await fresh.connect();
      for (const session of [old, fresh]) await expectOffset(session, seconds);
      await fresh.end();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The server gets the environment of this process. */
async function startWith(environment: Readonly<Record<string, string>>): Promise<EmbeddedPostgres> {
  Object.assign(process.env, environment);
  try {
    return await startEmbeddedPostgres({ tempDir: memoryFolder(), settings: { search_path: searchPath } });
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name];
  }
}

function offsetOf(seconds: number): Buffer {
  const nanoseconds = Buffer.alloc(8);
  new BigInt64Array(nanoseconds.buffer, nanoseconds.byteOffset, 1)[0] = BigInt(seconds * 1_000_000_000);
  return nanoseconds;
}

async function expectOffset(session: pg.Client, seconds: number): Promise<void> {
  const before = Date.now();
  const { rows } = await session.query('select extract(epoch from clock_timestamp())::float8 * 1000 as now');
  const now = (rows[0] as { now: number }).now - seconds * 1000;
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThan(Date.now() + 1);
}

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a library can be loaded into PostgreSQL on Linux only';
  try {
    accessSync(compiler, constants.X_OK);
    accessSync('/usr/include/stdlib.h');
    return undefined;
  } catch {
    return 'there is no C compiler: apt-get install gcc libc6-dev';
  }
}
