import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type BareLoop, openBareLoop } from './bare-loop.js';
import type { Runner } from './contender.js';

const prefetch = 1_000;

/** A stream on disk and a durable consumer, on connections of its own for both ends. */
export async function openBareNats(servers: string, run: string, loop: BareLoop): Promise<Runner> {
  return openBareLoop(loop, async (onArrival) => {
    const connections = [await connect({ servers }), await connect({ servers })] as const;
    const [sending, receiving] = connections;
    const name = `${run}-bare`;
    const manager = await jetstreamManager(sending);
    await manager.streams.add({ name, subjects: [name] });
    await manager.consumers.add(name, {
      durable_name: 'bare',
      ack_policy: 'explicit',
      max_ack_pending: prefetch,
    });
    const consumer = await jetstream(receiving).consumers.get(name, 'bare');
    const messages = await consumer.consume({ max_messages: prefetch });
    const consuming = (async () => {
      for await (const message of messages) {
        onArrival(message.data);
        message.ack();
      }
    })();
    const out = jetstream(sending);
    return {
      name: 'the client of NATS by itself',
      publish: (bodies) => Promise.all(bodies.map((body) => out.publish(name, body))),
      close: async () => {
        messages.stop();
        await consuming;
        await manager.streams.delete(name);
        for (const connection of connections) await connection.close();
      },
    };
  });
}
