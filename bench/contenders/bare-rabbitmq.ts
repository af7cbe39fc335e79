import { connect } from 'amqplib';
import { type BareLoop, openBareLoop } from './bare-loop.js';
import type { Runner } from './contender.js';

const prefetch = 1_000;

/** A quorum queue as the transport has it, on connections of its own for both ends. */
export async function openBareRabbitmq(url: string, queue: string, loop: BareLoop): Promise<Runner> {
  return openBareLoop(loop, async (onArrival) => {
    const connections = [await connect(url), await connect(url)] as const;
    const [sending, receiving] = connections;
    const out = await sending.createConfirmChannel();
    const name = `${queue}-bare`;
    await out.assertQueue(name, { arguments: { 'x-queue-type': 'quorum' } });
    const incoming = await receiving.createChannel();
    await incoming.prefetch(prefetch);
    await incoming.consume(name, (message) => {
      if (message === null) return;
      onArrival(message.content);
      incoming.ack(message);
    });
    return {
      name: 'amqplib by itself',
      publish: async (bodies) => {
        for (const body of bodies) out.sendToQueue(name, body, { persistent: true });
        await out.waitForConfirms();
      },
      close: async () => {
        await out.deleteQueue(name);
        for (const connection of connections) await connection.close();
      },
    };
  });
}
