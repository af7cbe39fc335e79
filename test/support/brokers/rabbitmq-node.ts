// A RabbitMQ node of its own, for as long as a test needs it: it may be configured, administered, stopped and killed.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { eventually } from '../eventually.js';
import { memoryFolder } from '../memory-folder.js';
import { freePort, isListening } from './ports.js';

/** Debian's wrapper in PATH switches the user, so the scripts behind it come first. */
const folders = [
  '/usr/lib/rabbitmq/bin',
  '/opt/homebrew/opt/rabbitmq/sbin',
  '/usr/local/opt/rabbitmq/sbin',
  ...(process.env.PATH ?? '').split(delimiter),
];
const scripts = folders.find((folder) => existsSync(join(folder, 'rabbitmq-server')));

/** Debian's package `rabbitmq-server`; .ci/run installs it. */
export const rabbitmqIsInstalled = scripts !== undefined;

export interface RabbitmqNode extends AsyncDisposable {
  /** As guest, who may do everything. */
  readonly url: string;
  readonly port: number;
  /** The name by which other nodes know it. */
  readonly name: string;
  /** Runs rabbitmqctl and returns what it prints. */
  control(...args: readonly string[]): Promise<string>;
  /** Ends the node as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again, with the same data on the same port. */
  start(): Promise<void>;
}

/** What the nodes of a cluster have in common. */
interface RabbitmqFamily {
  readonly cookie: string;
  readonly namesPort: number;
  /** Where each of them listens. */
  readonly ports: readonly number[];
}

export const newRabbitmqFamily = async (size = 1): Promise<RabbitmqFamily> => ({
  cookie: `WHIZBANG${process.pid}`,
  namesPort: await freePort(),
  ports: await Promise.all(Array.from({ length: size }, () => freePort())),
});

const nameOf = (port: number) => `wh${port}@localhost`;

/** `config` are lines of rabbitmq.conf. `member`: which one of the family it is. */
export async function startRabbitmqNode(
  config: readonly string[] = [],
  family?: RabbitmqFamily,
  member = 0,
): Promise<RabbitmqNode> {
  if (scripts === undefined) throw new Error('rabbitmq-server is not installed.');
  const folder = await mkdtemp(join(memoryFolder(), 'whizbang-rabbitmq-'));
  const { cookie: secret, namesPort, ports } = family ?? (await newRabbitmqFamily());
  const [port, distributionPort] = [ports[member] as number, await freePort()];
  const [name, url] = [nameOf(port), `amqp://guest:guest@127.0.0.1:${port}`];
  const cookie = join(folder, '.erlang.cookie');
  await writeFile(cookie, secret);
  await chmod(cookie, 0o600);
  await writeFile(
    join(folder, 'rabbitmq.conf'),
    [`listeners.tcp.1 = 127.0.0.1:${port}`, ...joining(ports), ...config, ''].join('\n'),
  );
  await writeFile(join(folder, 'plugins'), '[].');
  const env = {
    ...process.env,
    HOME: folder,
    // Names of its own, so that no other node of the machine is met, and none is left behind.
    ERL_EPMD_PORT: String(namesPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: name,
    RABBITMQ_MNESIA_BASE: join(folder, 'db'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1',
  };
  let child: ChildProcess | undefined;
  const killGroup = () => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
  };
  process.on('exit', killGroup);
  const node: RabbitmqNode = {
    url,
    port,
    name,
    control: async (...args) => {
      const { stdout } = await promisify(execFile)(
        join(scripts, 'rabbitmqctl'),
        ['--node', name, '--quiet', ...args],
        { env },
      );
      return stdout;
    },
    kill: async () => {
      if (child === undefined) return;
      const ended = once(child, 'exit');
      killGroup();
      await ended;
      child = undefined;
      await eventually(async () => {
        if (await isListening(port)) throw new Error(`Port ${port} is still open.`);
      });
    },
    start: async () => {
      const log = openSync(join(folder, 'out'), 'a');
      // A group of its own: the script starts the server, and both have to end.
      const started = spawn(join(scripts, 'rabbitmq-server'), {
        env,
        detached: true,
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      child = started;
      const exited = once(started, 'exit').then(() => {
        throw new Error(`RabbitMQ ended: ${readFileSync(join(folder, 'out'), 'utf8')}`);
      });
      exited.catch(() => {});
      // It listens when it has started. `rabbitmqctl await_startup` would say the same, for seconds of processor time.
      const answers = eventually(async () => (await connect(url, { timeout: 5_000 })).close(), 120_000);
      answers.catch(() => {});
      await Promise.race([answers, exited]);
    },
    [Symbol.asyncDispose]: async () => {
      await node.kill();
      process.off('exit', killGroup);
      await promisify(execFile)('epmd', ['-port', String(namesPort), '-kill'], { env }).catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
  await node.start();
  return node;
}

/** Nodes that know of each other when they first start are one cluster. To join later takes three commands each. */
const joining = (ports: readonly number[]): readonly string[] =>
  ports.length === 1
    ? []
    : [
        'cluster_formation.peer_discovery_backend = classic_config',
        ...ports.map((port, i) => `cluster_formation.classic_config.nodes.${i + 1} = ${nameOf(port)}`),
      ];
