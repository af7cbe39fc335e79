import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  /** The given connection string, by way of this proxy. */
  readonly connectionString: string;
  /** How many connections were asked for. */
  accepted: number;
  /** Hang up on the next so many, before a byte is answered. */
  hangUpOn: number;
  /** Cut the client off from the next so many answers: the server has done what it was asked, and nobody learns of it. */
  loseAnswers: number;
  /** Cut the clients off. The server does not learn of it until it wants to answer. */
  cut(): void;
  /**
   * The address moves: new connections go to that server. Those that there are end (`cut`), or stay open without a byte
   * ever passing again (`silent`), as when a machine vanishes.
   */
  moveTo(connectionString: string, existing: 'cut' | 'silent'): void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** A network between a client and the server that can fail where a test wants it to. */
export async function startTcpProxy(connectionString: string): Promise<TcpProxy> {
  let target = new URL(connectionString);
  const pairs = new Set<Pair>();
  const listener = createServer({ noDelay: true }, (client) => {
    proxy.accepted++;
    if (proxy.hangUpOn > 0) {
      proxy.hangUpOn--;
      client.destroy();
      return;
    }
    const server = connect({ port: Number(target.port || 5432), host: target.hostname, noDelay: true });
    pairs.add({ client, server });
    // Refused or reset: else the other side would never learn of it.
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
    client.pipe(server);
    server.on('data', () => {
      if (proxy.loseAnswers === 0) return;
      proxy.loseAnswers--;
      server.unpipe(client);
      client.destroy();
    });
    server.pipe(client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String((listener.address() as AddressInfo).port);

  const proxy: TcpProxy = {
    connectionString: through.href,
    accepted: 0,
    hangUpOn: 0,
    loseAnswers: 0,
    cut() {
      for (const { client, server } of pairs) {
        client.unpipe(server);
        client.destroy();
      }
    },
    moveTo(moved, existing) {
      target = new URL(moved);
      if (existing === 'cut') proxy.cut();
      else for (const pair of pairs) silence(pair);
    },
    async [Symbol.asyncDispose]() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      listener.close();
      await once(listener, 'close');
    },
  };
  return proxy;
}

function silence({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
  // What becomes of one side is no longer told to the other.
  for (const socket of [client, server]) socket.removeAllListeners('error').on('error', () => {});
}
