import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { inProcessTransport } from '../../../src/index.js';
import type {
  Delivery,
  Subscription,
  Transport,
  TransportHost,
  TransportMessage,
} from '../../../src/transport.js';

interface Broker extends AsyncDisposable {
  readonly port: number;
  /** For the services of the test's own process, which receive from it. */
  readonly transport: Transport;
  /** The ids of all that arrived, in the order in which it did. */
  readonly arrived: string[];
}

/** Takes what processes send by `brokerTransport`, and confirms a message when it is queued for who has subscribed. */
export async function startBroker(): Promise<Broker> {
  const transport = inProcessTransport();
  const connectAs = (serviceName: string) =>
    transport.connect({ instance: { serviceName }, onState: () => {} } as unknown as TransportHost);
  const hub = await connectAs('broker');
  const arrived: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    attend(socket).catch(() => socket.destroy()); // its process was killed: reading along fails
  });
  async function attend(socket: Socket): Promise<void> {
    const unacknowledged = new Map<string, Delivery>();
    for await (const line of createInterface(socket)) {
      const said = JSON.parse(line) as TransportMessage & {
        subscription?: Subscription;
        acknowledged?: string;
      };
      if (said.subscription !== undefined) await deliverTo(socket, said.subscription, unacknowledged);
      else if (said.acknowledged !== undefined) await unacknowledged.get(said.acknowledged)?.acknowledge();
      else {
        arrived.push(said.messageId);
        await hub.send([said], new AbortController().signal);
        if (socket.writable) socket.write('confirmed\n');
      }
    }
  }
  /** In the name of the shop. When its connection ends, what it has not acknowledged goes to others. */
  async function deliverTo(
    socket: Socket,
    subscription: Subscription,
    unacknowledged: Map<string, Delivery>,
  ): Promise<void> {
    const connection = await connectAs('shop');
    socket.on('close', () => void connection.close());
    await connection.receive(subscription, (delivery) => {
      unacknowledged.set((delivery.content as TransportMessage).messageId, delivery);
      socket.write(`${JSON.stringify(delivery.content)}\n`);
    });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    transport,
    arrived,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await hub.close();
    },
  };
}
