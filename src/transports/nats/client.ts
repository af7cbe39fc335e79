// The one place that knows how to open a connection with NATS's client, which is loaded here, when it is needed.
// In: settings. Out: a client with the parts of it that this room uses, or a WhizbangError that says what to correct.
// Called by the link. It never reconnects: a connection that has ended is replaced by the link, with fresh credentials.
import { WhizbangError } from '../../errors.js';
import { type Core, connectFailed } from './nats-errors.js';
import type { NatsCredentials, NatsSettings } from './nats-options.js';

type JetStream = typeof import('@nats-io/jetstream');

/** An open connection. */
export interface NatsClient {
  readonly core: Core;
  readonly nc: Awaited<ReturnType<Core['connect']>>;
  readonly js: ReturnType<JetStream['jetstream']>;
  readonly jsm: Awaited<ReturnType<JetStream['jetstreamManager']>>;
}

const connectMs = 5_000;
/** How long to wait for an answer of JetStream: an election takes some seconds. */
export const answerMs = 5_000;
/** A connection over which two pings went unanswered is dead. */
const pingMs = 4_000;

export async function openClient(settings: NatsSettings, name: string): Promise<NatsClient> {
  const { core, jetstream, jetstreamManager } = await loadClient();
  const authenticator = authenticatorOf(core, await settings.credentials());
  let nc: NatsClient['nc'];
  try {
    nc = await core.connect({
      servers: [...settings.servers],
      name,
      timeout: connectMs,
      pingInterval: pingMs,
      maxPingOut: 2,
      reconnect: false,
      ...(authenticator !== undefined && { authenticator }),
      ...(settings.tls !== undefined && { tls: definedOnly(settings.tls) }),
    });
  } catch (error) {
    throw connectFailed(core, error);
  }
  const jsm = await jetstreamManager(nc, { timeout: answerMs, checkAPI: false });
  return { core, nc, js: jetstream(nc, { timeout: answerMs }), jsm };
}

async function loadClient(): Promise<{
  core: Core;
  jetstream: JetStream['jetstream'];
  jetstreamManager: JetStream['jetstreamManager'];
}> {
  try {
    const [core, { jetstream, jetstreamManager }] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { core, jetstream, jetstreamManager };
  } catch (error) {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'natsTransport needs the packages @nats-io/transport-node and @nats-io/jetstream.',
      hint: 'Run `npm install @nats-io/transport-node @nats-io/jetstream`.',
      details: { option: 'transport' },
      cause: error,
    });
  }
}

function authenticatorOf(core: Core, credentials: NatsCredentials | undefined) {
  if (credentials === undefined) return undefined;
  const bytes = (text: string) => new TextEncoder().encode(text);
  if ('user' in credentials)
    return core.usernamePasswordAuthenticator(credentials.user, credentials.password);
  if ('token' in credentials) return core.tokenAuthenticator(credentials.token);
  if ('nkeySeed' in credentials) return core.nkeyAuthenticator(bytes(credentials.nkeySeed));
  return core.credsAuthenticator(bytes(credentials.creds));
}

/** Without the keys that are undefined. */
function definedOnly<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
