import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Broker } from './broker.js';
import { natsIsInstalled, startNatsServer } from './nats-server.js';

export interface NatsServer extends AsyncDisposable {
  readonly url: string;
}

const localUrl = 'nats://127.0.0.1:4222';

export const nats: Broker<NatsServer> = {
  name: 'NATS',
  howToTry: 'Install nats-server, or set NATS_URL, as in nats://127.0.0.1:4222, to a server with JetStream.',
  find: async () => {
    const given = process.env.NATS_URL;
    if (given) return running(given);
    if (await hasJetStream(localUrl)) return running(localUrl);
    return natsIsInstalled ? startNatsServer() : undefined;
  },
};

const running = (url: string): NatsServer => ({ url, [Symbol.asyncDispose]: async () => {} });

async function hasJetStream(url: string): Promise<boolean> {
  try {
    const connection = await connect({ servers: url, timeout: 2_000 });
    const has = connection.info?.jetstream === true;
    await connection.close();
    return has;
  } catch {
    return false;
  }
}

/** A client beside the transport. */
export function connectTo(url: string): Promise<NatsConnection> {
  const { host, username: user, password: pass } = new URL(url);
  return connect({ servers: host, ...(user !== '' && { user, pass }) });
}

/** Removes what services with this prefix have made: at a server that is there for others too, it would stay. */
export async function removeFromNats(url: string, prefix: string): Promise<void> {
  const connection = await connectTo(url);
  await (await jetstreamManager(connection)).streams.delete(prefix);
  await connection.close();
}
