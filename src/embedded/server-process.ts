import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WhizbangError } from '../errors.js';
import type { Binaries } from './binaries.js';
import type { DataDir } from './data-dir.js';
import { type Identity, serverEnvironment } from './identity.js';
import { readPostmasterFile } from './orphan.js';
import { watchServer } from './watchdog.js';

export interface ServerPlan {
  readonly binaries: Binaries;
  readonly data: DataDir;
  readonly identity: Identity;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

export interface ServerProcess {
  /** Stops the server. SIGINT: fast shutdown. SIGQUIT: as in a crash. Resolves when the process is gone. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Waits for connections that are just being closed, then stops as SIGINT does. */
  stopGently(): Promise<void>;
}

const startTimeoutMs = 60_000;
const farewellMs = 500;

/** Starts `postgres` and waits until it accepts connections. */
export async function launchServer(plan: ServerPlan): Promise<ServerProcess> {
  const { binaries, data, identity } = plan;
  const log = join(data.path, 'server.log');
  const output = await open(log, 'w');
  // A session of its own: Ctrl-C goes to the whole process group, and the application still needs its
  // database to finish its work. A file for the log: a pipe that is not read would block the server.
  const child = spawn(join(binaries.binDir, 'postgres'), ['-D', data.path, ...settingArguments(plan)], {
    ...identity.spawn,
    detached: true,
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', output.fd, output.fd],
  });
  const ended = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  await output.close();
  const { pid } = child;
  if (pid === undefined) throw await startFailed('could not be run', plan, log);
  const watchdog = watchServer(pid, data);
  const gone = ended.then(() => watchdog.dismiss());

  const end = Date.now() + startTimeoutMs;
  for (let state = await readPostmasterFile(data.path); ; state = await readPostmasterFile(data.path)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw await startFailed(`ended with ${child.exitCode ?? child.signalCode}`, plan, log);
    }
    if (state.pid === pid && state.state === 'ready') break;
    if (Date.now() > end) {
      child.kill('SIGQUIT');
      await gone;
      throw await startFailed(`accepted no connections within ${startTimeoutMs / 1000} s`, plan, log);
    }
    await sleep(5);
  }
  return {
    stop: async (signal) => {
      child.kill(signal);
      await gone;
    },
    stopGently: async () => {
      // A pool's end() resolves before its sockets are closed. When the server ends such a connection, it
      // emits an error that has no listener any more, and that ends the process.
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(farewellMs, undefined, { ref: false })]);
      child.kill('SIGINT');
      await gone;
    },
  };
}

function settingArguments(plan: ServerPlan): string[] {
  const settings = {
    ...plan.settings,
    listen_addresses: '127.0.0.1',
    port: String(plan.port),
    unix_socket_directories: '',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function startFailed(fact: string, plan: ServerPlan, log: string): Promise<WhizbangError> {
  const tail = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n').slice(-20).join('\n');
  return new WhizbangError('EMBEDDED_START_FAILED', {
    message: `PostgreSQL ${plan.binaries.version} in ${plan.data.path} ${fact}:\n${tail}`,
    details: { dataDir: plan.data.path, port: plan.port, log: tail },
  });
}
