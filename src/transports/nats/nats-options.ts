import { readFileSync } from 'node:fs';
import { WhizbangError } from '../../errors.js';

/** How to reach NATS, and how the stream is laid out there. */
export interface NatsTransportOptions {
  /** As in `nats://host:4222` or `tls://host:4222`; of a cluster, all of its nodes. User and password may be in it. */
  readonly servers: string | readonly string[];
  /** Asked for at each connect when it is a function, so that it may change. */
  readonly credentials?: NatsCredentials | (() => NatsCredentials | Promise<NatsCredentials>) | undefined;
  readonly tls?: NatsTls | undefined;
  /** Who makes the stream: this transport, you (it is checked), or you without a check. Default: declare. */
  readonly topology?: 'declare' | 'check' | 'off' | undefined;
  /** In how many parts the stream is received, each by one instance at a time. The same for all services. Default: 1. */
  readonly shards?: number | undefined;
  /** On how many servers of a cluster the stream is kept. Default: 1. */
  readonly replicas?: number | undefined;
  /** The name of the stream, and the first word of its subjects. Default: whizbang. */
  readonly prefix?: string | undefined;
  /** How long an instance that receives may be silent before another takes over. Default: 5. */
  readonly leaseSeconds?: number | undefined;
}

/** One way to log in. */
export type NatsCredentials =
  | { readonly user: string; readonly password: string }
  | { readonly token: string }
  /** The seed of an NKey, which begins with SU. */
  | { readonly nkeySeed: string }
  /** The text of a .creds file. */
  | { readonly creds: string };

/** Files or texts in PEM. */
export interface NatsTls {
  readonly ca?: string | undefined;
  readonly caFile?: string | undefined;
  readonly cert?: string | undefined;
  readonly certFile?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
  /** For servers that expect TLS before they say anything. */
  readonly handshakeFirst?: boolean | undefined;
}

/** The options with their defaults. */
export interface NatsSettings {
  /** Without credentials. */
  readonly servers: readonly string[];
  readonly credentials: () => Promise<NatsCredentials | undefined>;
  readonly tls: NatsTls | undefined;
  readonly topology: 'declare' | 'check' | 'off';
  readonly shards: number;
  readonly replicas: number;
  readonly prefix: string;
  readonly leaseSeconds: number;
}

const known = [
  'servers',
  'credentials',
  'tls',
  'topology',
  'shards',
  'replicas',
  'prefix',
  'leaseSeconds',
] as const satisfies readonly (keyof NatsTransportOptions)[];

export function resolveNatsOptions(options: NatsTransportOptions): NatsSettings {
  for (const name of Object.keys(options)) {
    if (!(known as readonly string[]).includes(name))
      throw refused(name, 'is not an option', `Its options are ${known.join(', ')}.`);
  }
  const { topology = 'declare', shards = 1, replicas = 1, prefix = 'whizbang', leaseSeconds = 5 } = options;
  if (!['declare', 'check', 'off'].includes(topology))
    throw refused('topology', 'has to be declare, check or off');
  inRange('shards', shards, 1, 64);
  inRange('replicas', replicas, 1, 5);
  if (!(leaseSeconds >= 1 && leaseSeconds <= 300)) throw refused('leaseSeconds', 'has to be from 1 to 300');
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(prefix))
    throw refused('prefix', 'has to be one word of letters, digits, - and _, of 60 at most');
  const urls = [options.servers].flat().map(serverOf);
  if (urls.length === 0) throw refused('servers', 'names no server');
  const inUrl = urls.find(({ username }) => username !== '');
  const { credentials } = options;
  return Object.freeze({
    servers: urls.map(({ protocol, host }) => `${protocol}//${host}`),
    credentials: async () => {
      if (typeof credentials === 'function') return credentials();
      return credentials ?? (inUrl && credentialsOf(inUrl));
    },
    tls: tlsOf(options.tls, urls),
    topology,
    shards,
    replicas,
    prefix,
    leaseSeconds,
  });
}

/** Never puts the given text into an error: there may be a password in it. */
function serverOf(text: unknown): URL {
  const full = typeof text === 'string' && !text.includes('://') ? `nats://${text}` : text;
  const url = typeof full === 'string' && URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '')
    throw refused('servers', 'has an entry that is no address of a NATS server', 'As in nats://host:4222.');
  return url;
}

function credentialsOf({ username, password }: URL): NatsCredentials {
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, password: decodeURIComponent(password) };
}

function tlsOf(given: NatsTls | undefined, urls: readonly URL[]): NatsTls | undefined {
  for (const name of ['caFile', 'certFile', 'keyFile'] as const) {
    const file = given?.[name];
    if (file === undefined) continue;
    try {
      readFileSync(file);
    } catch (error) {
      throw refused(`tls.${name}`, 'names a file that cannot be read', undefined, error);
    }
  }
  return given ?? (urls.some(({ protocol }) => protocol === 'tls:') ? {} : undefined);
}

function inRange(option: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw refused(option, `has to be a whole number from ${min} to ${max}`);
}

function refused(option: string, what: string, hint?: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The option ${option} of natsTransport ${what}.`,
    details: { option },
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  });
}
