// A broker that the test can see into, reached over TCP by processes of their own: everything is a line of JSON.
// One connection sends: a message, a confirmation. Another one receives: a subscription, then deliveries and their
// acknowledgements.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type {
  Receiver,
  Subscription,
  Transport,
  TransportConnection,
  TransportMessage,
} from '../../../src/transport.js';

type Deliver = Parameters<TransportConnection['receive']>[1];

/** `pass` is told the steps: 'half sent' of a batch, 'delivered' and 'acknowledged'. */
export function brokerTransport(port: number, pass: (step: string) => void = () => {}): Transport {
  return {
    name: 'broker of the test',
    traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
    connect: async () => {
      const sockets: Socket[] = [];
      const open = async () => {
        const socket = connect(port, '127.0.0.1');
        sockets.push(socket);
        socket.setNoDelay();
        await once(socket, 'connect');
        return socket;
      };
      return {
        send: sender(await open(), pass),
        receive: async (subscription, deliver) => receive(await open(), subscription, deliver, pass),
        ready: async () => {},
        close: async () => {
          for (const socket of sockets) socket.destroy();
        },
      };
    },
  };
}

function sender(socket: Socket, pass: (step: string) => void): TransportConnection['send'] {
  const confirmations = createInterface(socket)[Symbol.asyncIterator]();
  return async (messages) => {
    for (const [i, message] of messages.entries()) {
      socket.write(`${JSON.stringify(message)}\n`);
      const { done } = await confirmations.next();
      if (done) throw new Error('the broker is gone');
      if (i + 1 === Math.ceil(messages.length / 2)) pass('half sent');
    }
    return messages.map(() => ({ kind: 'sent' as const }));
  };
}

function receive(
  socket: Socket,
  subscription: Subscription,
  deliver: Deliver,
  pass: (step: string) => void,
): Receiver {
  socket.write(`${JSON.stringify({ subscription })}\n`);
  createInterface(socket).on('line', (line) => {
    const content = JSON.parse(line) as TransportMessage;
    pass('delivered');
    deliver({
      content,
      acknowledge: async () => {
        socket.write(`${JSON.stringify({ acknowledged: content.messageId })}\n`);
        pass('acknowledged');
      },
      reject: async () => void socket.destroy(),
    });
  });
  return { stop: async () => void socket.destroy() };
}
