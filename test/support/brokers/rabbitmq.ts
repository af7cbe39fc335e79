import { connect } from 'amqplib';
import { addressName } from '../../../src/transports/index.js';
import type { Broker } from './broker.js';
import { rabbitmqIsInstalled, startRabbitmqNode } from './rabbitmq-node.js';

interface RabbitmqServer extends AsyncDisposable {
  readonly url: string;
}

const localUrl = 'amqp://guest:guest@127.0.0.1:5672';

export const rabbitmq: Broker<RabbitmqServer> = {
  name: 'RabbitMQ',
  howToTry: 'Install rabbitmq-server, or set RABBITMQ_URL, as in amqp://guest:guest@127.0.0.1:5672.',
  find: async () => {
    const given = process.env.RABBITMQ_URL;
    if (given) return running(given);
    if (await answers(localUrl)) return running(localUrl);
    return rabbitmqIsInstalled ? startRabbitmqNode() : undefined;
  },
};

const running = (url: string): RabbitmqServer => ({ url, [Symbol.asyncDispose]: async () => {} });

async function answers(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: 5_000 });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

/** Removes what services with this prefix have made: at a server that is there for others too, it would stay. */
export async function removeFromRabbitmq(
  url: string,
  prefix: string,
  services: readonly string[],
  shards = 1,
): Promise<void> {
  const model = await connect(url);
  const channel = await model.createChannel();
  for (const service of services) {
    const queue = `${prefix}.${addressName(service, { max: 200 })}`;
    const queues =
      shards === 1 ? [queue] : Array.from({ length: shards }, (_, i) => `${queue}.${i}-of-${shards}`);
    for (const name of queues) await channel.deleteQueue(name);
  }
  for (const name of ['commands', 'events']) await channel.deleteExchange(`${prefix}.${name}`);
  await channel.close();
  await model.close();
}
