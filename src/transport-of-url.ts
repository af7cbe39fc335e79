// The scheme of a URL chooses the transport. Only the one that is used is loaded, with the client of its broker.
// In: a URL. Out: a transport, or INVALID_OPTION that names the scheme and never the URL, which may hold a password.
// Called by the relay and the doctor.
import { defaultSchema } from './database/index.js';
import { WhizbangError } from './errors.js';
import { postgresTransport, type Transport } from './transports/index.js';

/** How a URL of one scheme becomes a transport. */
export interface Scheme {
  /** The options of the transport that a URL holds. */
  optionsOf(url: string): object;
  /** Loads the function that makes the transport. */
  load(): Promise<(options: never) => Transport>;
  /** Options with which it makes and changes nothing at the broker. A text: why nobody looks at it. */
  readonly looksOnly?: object | string;
  /** Why it cannot be received from. */
  readonly onlySends?: string;
}

/** Who was given a URL, by which flag, and for what. */
export interface Asker {
  readonly command: 'relay' | 'doctor';
  readonly flag: string;
  readonly purpose: 'sending' | 'receiving' | 'looking';
}

const looksOnly = { topology: 'check' };

const rabbitmq: Scheme = {
  looksOnly,
  load: async () => (await import('./rabbitmq.js')).rabbitmqTransport,
  optionsOf: (given) => {
    const { url, options } = splitOptions(given, ['topology', 'shards', 'prefix']);
    const urls = several(url);
    return { ...(urls.length === 1 ? { url } : { urls }), ...options };
  },
};
const nats: Scheme = {
  looksOnly,
  load: async () => (await import('./nats.js')).natsTransport,
  optionsOf: (given) => {
    const { url, options } = splitOptions(given, ['topology', 'shards', 'replicas', 'prefix']);
    return { servers: several(url), ...options };
  },
};
const azure: Scheme = {
  looksOnly,
  load: async () => (await import('./azure-service-bus.js')).azureServiceBusTransport,
  optionsOf: (given) => {
    if (/^Endpoint=/i.test(given)) return { connectionString: given };
    const { url, options } = splitOptions(given, ['topology', 'sessions', 'topic']);
    return { connectionString: connectionStringOf(url), ...options };
  },
};
const sqs: Scheme = {
  looksOnly,
  load: async () => (await import('./sqs.js')).sqsTransport,
  optionsOf: (given) => {
    const { url, options } = splitOptions(given, ['topology', 'region', 'topic']);
    const { host, protocol, username, password } = new URL(url);
    const credentials = credentialsOf(username, password);
    if (protocol === 'sqs:') return { ...options, ...credentials, region: host };
    const endpoint = `${protocol.slice('sqs+'.length)}//${host}`;
    return { region: 'us-east-1', endpoint, ...options, ...credentials };
  },
};
const postgres: Scheme = {
  load: async () => postgresTransport,
  optionsOf: databasesOf,
  looksOnly: 'It has no broker. Look at the other database itself: --database-url.',
  onlySends: 'It delivers nothing: the sender puts its messages straight into the inbox.',
};

/** Every scheme that is known. */
export const schemes: Readonly<Record<string, Scheme>> = {
  amqp: rabbitmq,
  amqps: rabbitmq,
  nats,
  tls: nats,
  sb: azure,
  sqs,
  'sqs+http': sqs,
  'sqs+https': sqs,
  postgres,
  postgresql: postgres,
};

/** Makes the transport for what a flag was given. */
export async function transportOfUrl(
  asker: Asker,
  url: string,
  known: Readonly<Record<string, Scheme>> = schemes,
): Promise<Transport> {
  const scheme = /^Endpoint=sb:/i.test(url) ? 'sb' : /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  const found = scheme === undefined || !Object.hasOwn(known, scheme) ? undefined : known[scheme];
  if (found === undefined) {
    const fact = scheme === undefined ? 'is not a URL' : `has the scheme ${scheme}:, which no transport has`;
    throw refusal(
      asker,
      fact,
      `Known schemes: ${Object.keys(known)
        .map((each) => `${each}:`)
        .join(', ')}.`,
    );
  }
  const { flag, purpose } = asker;
  if (purpose === 'receiving' && found.onlySends !== undefined)
    throw refusal(asker, `has the scheme ${scheme}:`, `${found.onlySends} Leave ${flag} out.`);
  if (purpose === 'looking' && typeof found.looksOnly === 'string')
    throw refusal(asker, `has the scheme ${scheme}:`, found.looksOnly);
  const make = await found.load();
  try {
    for (const [, user = ''] of url.matchAll(/\/\/([^/?#\s]*)@/g)) decodeURIComponent(user);
    return make({
      ...found.optionsOf(url),
      ...(purpose === 'looking' && (found.looksOnly as object)),
    } as never);
  } catch (error) {
    if (error instanceof WhizbangError) throw withFlag(error, asker);
    throw refusal(
      asker,
      'is not a valid URL',
      'Write special characters of a password as %40, %2F and so on.',
    );
  }
}

/** Takes options of the transport out of the query of a URL, and leaves the rest in it. */
function splitOptions(given: string, names: readonly string[]) {
  const [url = '', query] = given.split(/\?(.*)$/s);
  const params = new URLSearchParams(query);
  const options: Record<string, string | number> = {};
  for (const name of names) {
    const value = params.get(name);
    if (value === null) continue;
    options[name] = /^\d+$/.test(value) ? Number(value) : value;
    params.delete(name);
  }
  const rest = params.toString();
  return { url: rest === '' ? url : `${url}?${rest}`, options };
}

/** A cluster: several URLs with commas between them. */
const several = (url: string) => url.split(/,(?=[a-z]+:\/\/)/i);

/** `sb://key-name:key@namespace.servicebus.windows.net` as the connection string that Azure shows. */
function connectionStringOf(url: string): string {
  const { host, username, password, searchParams } = new URL(url.replace(/^sb:/i, 'http:'));
  const parts = {
    Endpoint: `sb://${host}/`,
    SharedAccessKeyName: decodeURIComponent(username),
    SharedAccessKey: decodeURIComponent(password),
    ...Object.fromEntries(searchParams),
  };
  return Object.entries(parts)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');
}

/** `sqs://key-id:secret@region`. Without them the AWS SDK looks for credentials where it always does. */
function credentialsOf(accessKeyId: string, secretAccessKey: string): object {
  if (accessKeyId === '' && secretAccessKey === '') return {};
  if (accessKeyId === '' || secretAccessKey === '')
    throw new WhizbangError('INVALID_OPTION', {
      message: 'The URL of SQS has an access key without its secret, or a secret without its key.',
      hint: 'Write both, as in sqs://key-id:secret@eu-central-1, or neither and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
      details: { option: 'credentials' },
    });
  return {
    credentials: {
      accessKeyId: decodeURIComponent(accessKeyId),
      secretAccessKey: decodeURIComponent(secretAccessKey),
    },
  };
}

/** `postgres://user@host/database?schema=ledger&name=ledger`: where the service of this name has its inbox. */
function databasesOf(url: string): object {
  const target = new URL(url);
  const schema = target.searchParams.get('schema') ?? defaultSchema;
  const name =
    target.searchParams.get('name') ?? (schema === defaultSchema ? target.pathname.slice(1) : schema);
  target.searchParams.delete('schema');
  target.searchParams.delete('name');
  return { databases: { [name]: { connectionString: target.href, schema } } };
}

/** What a transport refuses is an option to it, and a URL to whoever gave it. */
function withFlag({ code, message, hint, details }: WhizbangError, { command, flag }: Asker): WhizbangError {
  return new WhizbangError(code, { message: `${command}: ${flag}: ${message}`, hint, details });
}

function refusal({ command, flag }: Asker, fact: string, hint: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `${command}: ${flag} ${fact}.`,
    hint,
    details: { option: flag },
  });
}
