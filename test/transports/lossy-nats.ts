import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A network to a NATS server that can lose one message on its way there, and carries what comes after it. */
interface LossyNetwork extends AsyncDisposable {
  readonly url: string;
  /** Of the messages to subjects that begin with this, the one with this number is lost, counted from 1 from now on. */
  lose(number: number, prefix: string): void;
  /** How many were lost. */
  lost: number;
}

export async function startLossyNetwork(serverUrl: string): Promise<LossyNetwork> {
  const target = new URL(serverUrl);
  let toLose: { left: number; prefix: string } | undefined;
  const sockets = new Set<{ destroy(): void }>();
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    server.pipe(client);
    let rest = Buffer.alloc(0);
    client.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (let frame = frameOf(rest); frame !== undefined; frame = frameOf(rest)) {
        rest = rest.subarray(frame.bytes.length);
        if (!isLost(frame.subject)) server.write(frame.bytes);
      }
    });
  });
  const isLost = (subject: string | undefined): boolean => {
    if (toLose === undefined || subject?.startsWith(toLose.prefix) !== true || --toLose.left > 0)
      return false;
    toLose = undefined;
    network.lost++;
    return true;
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const network: LossyNetwork = {
    url: `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    lost: 0,
    lose: (number, prefix) => {
      toLose = { left: number, prefix };
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  return network;
}

/** The first frame of the client's protocol, when all of it is there. */
function frameOf(bytes: Buffer): { readonly bytes: Buffer; readonly subject?: string } | undefined {
  const end = bytes.indexOf('\r\n');
  if (end < 0) return undefined;
  const words = bytes.toString('latin1', 0, end).split(' ');
  if (words[0] !== 'PUB' && words[0] !== 'HPUB') return { bytes: bytes.subarray(0, end + 2) };
  const total = end + 2 + Number(words.at(-1)) + 2;
  return bytes.length < total ? undefined : { bytes: bytes.subarray(0, total), subject: words[1] as string };
}
