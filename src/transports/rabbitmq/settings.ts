import type { ConnectionOptions } from 'node:tls';
import { invalidOption, resolveOptions } from '../../options.js';
import { slots } from './names.js';

/** What the user and the password are at this moment. */
export interface RabbitmqCredentials {
  readonly username: string;
  readonly password: string;
}

/** Where the broker is, and how its queues are made. */
export interface RabbitmqTransportOptions {
  /** As in `amqp://user:password@host:5672/vhost`; `amqps:` for TLS. This or `urls`. */
  readonly url?: string | undefined;
  /** The nodes of a cluster. They are tried in turn. */
  readonly urls?: readonly string[] | undefined;
  /** Asked at each connect, instead of the user and the password in the URL. */
  readonly credentials?: (() => Promise<RabbitmqCredentials>) | undefined;
  /** For `amqps:`, as in `tls.connect` of Node: `ca`, `cert`, `key` … */
  readonly tls?: ConnectionOptions | undefined;
  /**
   * `declare`: makes exchanges, queues and bindings that are missing. `check`: makes nothing, and refuses to start when
   * an exchange or a queue is missing. `off`: makes and checks nothing. Default: `declare`.
   */
  readonly topology?: 'declare' | 'check' | 'off' | undefined;
  /** Into how many queues the streams of this service are spread, 1 to 16. Senders need not know it. Default: 1. */
  readonly shards?: number | undefined;
  /** What the names of exchanges and queues begin with: letters, digits, `-` and `_`. Default: `whizbang`. */
  readonly prefix?: string | undefined;
  /** A connection over which nothing came for two to three times as long is given up. Default: 5. */
  readonly heartbeatSeconds?: number | undefined;
  /** How long a sent message may stay without a confirmation. Default: 10. */
  readonly confirmSeconds?: number | undefined;
}

export interface RabbitmqSettings {
  readonly urls: readonly URL[];
  readonly credentials: (() => Promise<RabbitmqCredentials>) | undefined;
  readonly tls: ConnectionOptions | undefined;
  readonly topology: 'declare' | 'check' | 'off';
  readonly shards: number;
  readonly prefix: string;
  readonly heartbeatSeconds: number;
  readonly confirmSeconds: number;
}

const owner = 'rabbitmqTransport';
const numbers = {
  shards: { default: 1, min: 1, max: slots, unit: 'shards' },
  heartbeatSeconds: { default: 5, min: 1, max: 60, unit: 'seconds' },
  confirmSeconds: { default: 10, min: 1, max: 600, unit: 'seconds' },
} as const;
const others = ['url', 'urls', 'credentials', 'tls', 'topology', 'prefix'];
const topologies = ['declare', 'check', 'off'] as const;
const validPrefix = /^[A-Za-z0-9_-]{1,40}$/;

export function resolveSettings(options: RabbitmqTransportOptions): RabbitmqSettings {
  const { url, urls, credentials, tls, topology = 'declare', prefix = 'whizbang', ...given } = options;
  const resolved = resolveOptions(owner, numbers, given, others);
  if ((url === undefined) === (urls === undefined))
    throw refused('url', 'it needs either url or urls', "Give one of them, as in url: 'amqp://localhost'.");
  if (urls?.length === 0) throw refused('urls', 'urls is an empty list', 'Name the nodes of the cluster.');
  if (!topologies.includes(topology)) {
    const fact = `topology is ${JSON.stringify(topology)}`;
    throw refused('topology', fact, `Give one of ${topologies.join(', ')}.`);
  }
  if (!validPrefix.test(prefix)) {
    const fact = `prefix is ${JSON.stringify(prefix)}`;
    throw refused('prefix', fact, 'Give 1 to 40 letters, digits, - and _.');
  }
  if (credentials !== undefined && typeof credentials !== 'function') {
    const hint = 'Give a function that returns a promise of { username, password }.';
    throw refused('credentials', 'credentials is not a function', hint);
  }
  return Object.freeze({
    urls: (urls ?? [url as string]).map(parseUrl),
    credentials,
    tls,
    topology,
    prefix,
    ...resolved,
  });
}

const refused = (option: string, fact: string, hint: string) => invalidOption(owner, option, fact, hint);

/** Never shows what was given: it may have a password in it. */
function parseUrl(text: string): URL {
  const hint = 'As in amqp://user:password@host:5672/vhost; amqps: for TLS. Write / in a vhost as %2F.';
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refused('url', 'url is not a URL', hint);
  if (url.protocol !== 'amqp:' && url.protocol !== 'amqps:')
    throw refused('url', `url begins with ${url.protocol} instead of amqp: or amqps:`, hint);
  if (url.hostname === '') throw refused('url', 'url has no host', hint);
  if (url.search === '') return url;
  const fact = `url has parameters: ${[...url.searchParams.keys()].join(', ')}`;
  throw refused('url', fact, 'Remove them: what can be set is an option, as heartbeatSeconds and tls.');
}
