// Three RabbitMQ nodes that are one broker, for as long as a test needs them.
import { expect } from 'vitest';
import { eventually } from '../eventually.js';
import { newRabbitmqFamily, type RabbitmqNode, startRabbitmqNode } from './rabbitmq-node.js';

interface RabbitmqCluster extends AsyncDisposable {
  /** One of each node. */
  readonly urls: readonly string[];
  /** Kills the node that leads this queue, as `kill -9` does, and starts it again when another one leads. */
  killLeaderOf(queue: RegExp): Promise<void>;
  /** Kills all nodes and starts them again. */
  restart(): Promise<void>;
}

const size = 3;

export async function startRabbitmqCluster(): Promise<RabbitmqCluster> {
  const family = await newRabbitmqFamily(size);
  const members = Array.from({ length: size }, (_, member) => startRabbitmqNode([], family, member));
  const started = await Promise.allSettled(members);
  const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const end = async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  };
  try {
    await Promise.all(members);
    const told = (await nodes[0]?.control('cluster_status', '--formatter', 'json')) ?? '';
    expect((JSON.parse(told) as { readonly running_nodes: unknown }).running_nodes).toHaveLength(size);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    urls: nodes.map(({ url }) => url),
    killLeaderOf: async (queue) => {
      const leader = await leaderOf(queue, nodes);
      const survivors = nodes.filter((node) => node !== leader);
      await leader.kill();
      await eventually(async () => expect(await leaderOf(queue, survivors)).not.toBe(leader), 60_000);
      await leader.start();
    },
    restart: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => node.start()));
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Asks the first node that answers. All three members have to be there: a queue of two would stop with the next loss. */
async function leaderOf(queue: RegExp, nodes: readonly RabbitmqNode[]): Promise<RabbitmqNode> {
  const [asked] = nodes;
  const lines = (await asked?.control('list_queues', 'name', 'leader')) ?? '';
  const [line] = lines.split('\n').filter((each) => queue.test(each.split('\t')[0] ?? ''));
  const name = line?.split('\t')[1]?.trim();
  const leader = nodes.find((node) => node.name === name);
  if (leader === undefined) throw new Error(`No living node leads ${queue}: ${lines}`);
  return leader;
}
