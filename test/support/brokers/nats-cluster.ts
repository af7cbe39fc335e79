// Three NATS servers that are one broker, for as long as a test needs them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';
import { eventually } from '../eventually.js';
import { memoryFolder } from '../memory-folder.js';
import { freePort, isListening } from './ports.js';

interface NatsCluster extends AsyncDisposable {
  /** One of each server. */
  readonly servers: readonly string[];
  /** Kills the server that leads this stream, as `kill -9` does, and starts it again when another one leads. */
  killLeaderOf(stream: string): Promise<void>;
  /**
   * Stops all servers and starts them again. They may write what they have confirmed: what NATS keeps when all are killed at
   * the same moment is not promised (docs/transports/nats.md).
   */
  restart(): Promise<void>;
  /** The stream, its consumers, and the last messages in it. */
  inspect(stream: string): Promise<unknown>;
}

interface NatsServer {
  readonly name: string;
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const folder = await mkdtemp(join(memoryFolder(), 'whizbang-nats-'));
  const ports = await Promise.all(Array.from({ length: 6 }, () => freePort()));
  const [own, between] = [ports.slice(0, 3), ports.slice(3)];
  const routes = between.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const nodes = await Promise.all(
    own.map(async (port, i): Promise<NatsServer> => {
      const name = `n${i + 1}`;
      const config = join(folder, `${name}.conf`);
      await writeFile(
        config,
        `server_name: ${name}
host: 127.0.0.1
port: ${port}
jetstream { store_dir: ${join(folder, name)}, max_file: 1GB }
cluster { name: wh, host: 127.0.0.1, port: ${between[i]}, no_advertise: true, routes: [${routes}] }
`,
      );
      return natsServer(name, port, config);
    }),
  );
  const start = async () => {
    await Promise.all(nodes.map((node) => node.start()));
    await eventually(async () => expect(await peersSeenBy(own[0] as number)).toBe(true), 60_000);
  };
  const leaderOf = async (stream: string, asked: readonly NatsServer[]) => {
    const connection = await connect({ servers: asked.map(({ port }) => `127.0.0.1:${port}`) });
    try {
      const { cluster } = await (await jetstreamManager(connection)).streams.info(stream);
      const leader = nodes.find(({ name }) => name === cluster?.leader);
      if (leader === undefined) throw new Error(`Nobody leads the stream ${stream}.`);
      return leader;
    } finally {
      await connection.close();
    }
  };
  await start();
  return {
    servers: own.map((port) => `nats://127.0.0.1:${port}`),
    killLeaderOf: async (stream) => {
      const leader = await leaderOf(stream, nodes);
      const survivors = nodes.filter((node) => node !== leader);
      await leader.kill();
      await eventually(async () => expect(await leaderOf(stream, survivors)).not.toBe(leader), 60_000);
      await leader.start();
    },
    inspect: async (stream) => {
      const connection = await connect({ servers: nodes.map(({ port }) => `127.0.0.1:${port}`) });
      try {
        const jsm = await jetstreamManager(connection);
        const { state, cluster } = await jsm.streams.info(stream, { subjects_filter: '>' });
        const consumers: unknown[] = [];
        for await (const { name, delivered, num_pending } of jsm.consumers.list(stream))
          consumers.push({ name, delivered, num_pending });
        const floor = await jsm.streams.getMessage(stream, { last_by_subj: `${stream}.floor.shop.0` });
        return { state, leader: cluster?.leader, consumers, floor: floor?.string(), floorAt: floor?.seq };
      } finally {
        await connection.close();
      }
    },
    restart: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function natsServer(name: string, port: number, config: string): NatsServer {
  let child: ChildProcess | undefined;
  const kill = () => void child?.kill('SIGKILL');
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    process.off('exit', kill);
  };
  return {
    name,
    port,
    start: async () => {
      child = spawn('nats-server', ['-c', config], { stdio: 'ignore' });
      process.once('exit', kill);
      await eventually(async () => expect(await isListening(port)).toBe(true), 30_000);
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** Whether the servers have found each other and agreed on a leader: before that, JetStream makes nothing. */
async function peersSeenBy(port: number): Promise<boolean> {
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  try {
    await (await jetstreamManager(connection)).getAccountInfo();
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
