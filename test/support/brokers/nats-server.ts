// A nats-server of its own, for as long as a test needs it: it may be configured, stopped and killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { eventually } from '../eventually.js';
import { memoryFolder } from '../memory-folder.js';
import { freePort, isListening } from './ports.js';

const folders = [
  '/usr/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  ...(process.env.PATH ?? '').split(delimiter),
];
const binary = folders.map((folder) => join(folder, 'nats-server')).find(existsSync);

/** Debian's package `nats-server`; .ci/run installs it. */
export const natsIsInstalled = binary !== undefined;

interface OwnNatsServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again, with the same data on the same port. */
  start(): Promise<void>;
}

interface OwnNatsOptions {
  /** More lines of its configuration. */
  readonly config?: string;
  /** Default: true. */
  readonly jetStream?: boolean;
  readonly port?: number;
}

export async function startNatsServer(options: OwnNatsOptions = {}): Promise<OwnNatsServer> {
  if (binary === undefined) throw new Error('nats-server is not installed.');
  const folder = await mkdtemp(join(memoryFolder(), 'whizbang-nats-'));
  const port = options.port ?? (await freePort());
  const file = join(folder, 'nats.conf');
  const jetStream = options.jetStream === false ? '' : `jetstream { store_dir: "${folder}", max_file: 1GB }`;
  await writeFile(file, `host: 127.0.0.1\nport: ${port}\n${jetStream}\n${options.config ?? ''}\n`);
  let child: ChildProcess | undefined;
  const killChild = () => void child?.kill('SIGKILL');
  process.on('exit', killChild);
  const server: OwnNatsServer = {
    url: `nats://127.0.0.1:${port}`,
    port,
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      killChild();
      await ended;
    },
    start: async () => {
      child = spawn(binary, ['-c', file, '-l', join(folder, 'log')], { stdio: 'ignore' });
      await eventually(async () => {
        if (!(await isListening(port)))
          throw new Error(`nats-server did not open its port: see ${folder}/log.`);
      });
    },
    [Symbol.asyncDispose]: async () => {
      await server.kill();
      process.off('exit', killChild);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
