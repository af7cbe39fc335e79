import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { connect } from 'amqplib';
import { expect, it } from 'vitest';
import { onChannel } from '../../src/transports/rabbitmq/topology.js';
import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';

/** Class 20, method 40 of AMQP: a client closes a channel. */
const channelClose = Buffer.from([0, 20, 0, 40]);

/** A way to the broker that ends when a client asks for the close of a channel, before the broker has confirmed it. */
async function cutAtClose(url: string) {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const broker = connectSocket(Number(port) || 5672, hostname);
    const end = () => [client, broker].map((socket) => socket.destroy());
    for (const socket of [client, broker]) socket.on('error', end).on('close', end);
    broker.pipe(client);
    client.on('data', (data) => (data.includes(channelClose) ? end() : broker.write(data)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const way = new URL(url);
  way.port = String((server.address() as AddressInfo).port);
  return { url: way.href, [Symbol.dispose]: () => void server.close() };
}

await withBroker(rabbitmq, ({ url }) => {
  it('a connection that ends while a channel is closed leaves nobody waiting', async () => {
    using way = await cutAtClose(url);
    const model = await connect(way.url);
    model.on('error', () => {});
    const asked = onChannel(model, (channel) => channel.checkExchange('amq.topic'));
    await expect(asked).resolves.toBeDefined();
  });
});
