// A pgbouncer in transaction mode in front of the test server, for as long as a test needs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './brokers/ports.js';
import { eventually } from './eventually.js';

const binary = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find(existsSync);

/** Debian's package `pgbouncer`; .ci/run installs it. */
export const pgbouncerIsInstalled = binary !== undefined;

interface PgBouncer extends AsyncDisposable {
  /** The given database, by way of pgbouncer. */
  readonly connectionString: string;
}

export async function startPgBouncer(connectionString: string): Promise<PgBouncer> {
  const target = new URL(connectionString);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-pgbouncer-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const host = target.hostname || '127.0.0.1';
  await writeFile(
    file,
    `[databases]
* = host=${host} port=${target.port || 5432} user=${decodeURIComponent(target.username)}${target.password ? ` password=${decodeURIComponent(target.password)}` : ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = transaction
default_pool_size = 5
unix_socket_dir =
`,
  );
  const isRoot = process.getuid?.() === 0; // which pgbouncer refuses to be
  const child = spawn(binary as string, [file], {
    stdio: 'ignore',
    ...(isRoot ? { uid: 65534, gid: 65534 } : {}),
  });
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  await eventually(async () => {
    const client = new pg.Client({ connectionString: through.href });
    client.on('error', () => {});
    await client.connect();
    await client.end();
  });
  return {
    connectionString: through.href,
    [Symbol.asyncDispose]: () => stop(child, folder),
  };
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  const ended = child.exitCode === null ? once(child, 'exit') : undefined;
  child.kill('SIGKILL');
  await ended;
  await rm(folder, { recursive: true });
}
