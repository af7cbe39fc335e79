import { WhizbangError } from '../../errors.js';

/** A credential of `@azure/identity`, such as `DefaultAzureCredential`. */
export interface AzureCredential {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>;
}

/** How to reach Azure Service Bus, and how its topic is used. */
export interface AzureServiceBusTransportOptions {
  /** `Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…`. Or give `fullyQualifiedNamespace` and `credential`. */
  readonly connectionString?: string;
  /** Such as `shop.servicebus.windows.net`. */
  readonly fullyQualifiedNamespace?: string;
  /** It is asked for a token whenever one is needed. */
  readonly credential?: AzureCredential;
  /** `declare` makes what is missing, `check` refuses to start without it, `off` does neither. Default: `declare`. */
  readonly topology?: 'declare' | 'check' | 'off';
  /** The topic that all services share. Default: `whizbang`. */
  readonly topic?: string;
  /** What a session is: a shard, which holds many streams, or a single stream. Default: `shard`. */
  readonly sessions?: 'shard' | 'stream';
  /** The number of shards, the same for all services of the topic. Default: 16. */
  readonly shards?: number;
  /** How many sessions an instance holds at one time. Default: all shards; 64 with `sessions: 'stream'`. */
  readonly concurrentSessions?: number;
  /** The lock of a session where the subscription is declared: so long a frozen instance keeps it. Default: 60. */
  readonly lockSeconds?: number;
  /** After this time an instance offers a session that is never idle to the others. Default: 60. */
  readonly holdSeconds?: number;
  /** Where the emulator takes administration requests. Default with its connection string: port 5300 of its host. */
  readonly administrationUrl?: string;
}

/** The options with their defaults. */
export interface AzureServiceBusSettings {
  readonly connectionString: string | undefined;
  readonly fullyQualifiedNamespace: string | undefined;
  readonly credential: AzureCredential | undefined;
  readonly topology: 'declare' | 'check' | 'off';
  readonly topic: string;
  readonly sessions: 'shard' | 'stream';
  readonly shards: number;
  readonly concurrentSessions: number;
  readonly lockSeconds: number;
  readonly holdSeconds: number;
  readonly administrationUrl: string | undefined;
}

const known = [
  'connectionString',
  'fullyQualifiedNamespace',
  'credential',
  'topology',
  'topic',
  'sessions',
  'shards',
  'concurrentSessions',
  'lockSeconds',
  'holdSeconds',
  'administrationUrl',
];
const streamsAtOnce = 64;

/** Checks the options and adds the defaults. Throws INVALID_OPTION. */
export function settingsOf(options: AzureServiceBusTransportOptions): AzureServiceBusSettings {
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined) refuse(unknown, `is not known. Known are ${known.join(', ')}`);
  const { connectionString, fullyQualifiedNamespace, credential } = options;
  const sessions = oneOf('sessions', options.sessions ?? 'shard', ['shard', 'stream']);
  const shards = numberIn('shards', options.shards ?? 16, 1, 1_000);
  refuseWrongAccess(options);
  const { topic = 'whizbang' } = options;
  if (!/^[A-Za-z0-9]([\w./-]{0,258}[A-Za-z0-9])?$/.test(topic))
    refuse(
      'topic',
      'has to be 1 to 260 letters, digits, ".", "-", "_" or "/", with a letter or digit at both ends',
    );
  return {
    connectionString,
    fullyQualifiedNamespace,
    credential,
    topology: oneOf('topology', options.topology ?? 'declare', ['declare', 'check', 'off']),
    topic,
    sessions,
    shards,
    concurrentSessions: numberIn(
      'concurrentSessions',
      options.concurrentSessions ?? (sessions === 'shard' ? shards : streamsAtOnce),
      1,
      1_000,
    ),
    lockSeconds: numberIn('lockSeconds', options.lockSeconds ?? 60, 1, 300),
    holdSeconds: numberIn('holdSeconds', options.holdSeconds ?? 60, 1, 3_600),
    administrationUrl: options.administrationUrl ?? emulatorUrl(connectionString),
  };
}

function refuseWrongAccess({
  connectionString,
  fullyQualifiedNamespace,
  credential,
}: AzureServiceBusTransportOptions): void {
  if (connectionString === undefined) {
    if (fullyQualifiedNamespace === undefined || credential === undefined)
      refuse('connectionString', 'is missing. Give it, or fullyQualifiedNamespace and credential');
    return;
  }
  if (fullyQualifiedNamespace !== undefined || credential !== undefined)
    refuse('connectionString', 'cannot be given together with fullyQualifiedNamespace or credential');
  const parts = ['Endpoint=sb://', 'SharedAccessKeyName=', 'SharedAccessKey='];
  const missing = parts.find((part) => !connectionString.toLowerCase().includes(part.toLowerCase()));
  const hasSignature = /SharedAccessSignature=/i.test(connectionString);
  if (missing !== undefined && !(hasSignature && missing !== parts[0]))
    refuse(
      'connectionString',
      `has no ${missing}…. Copy it from "az servicebus namespace authorization-rule keys list"`,
    );
}

function emulatorUrl(connectionString: string | undefined): string | undefined {
  if (connectionString === undefined || !/UseDevelopmentEmulator=true/i.test(connectionString))
    return undefined;
  const host = /Endpoint=sb:\/\/([^:;/]+)/i.exec(connectionString)?.[1] ?? 'localhost';
  return `http://${host}:5300`;
}

function oneOf<T extends string>(option: string, value: T, values: readonly T[]): T {
  if (!values.includes(value)) refuse(option, `has to be one of ${values.join(', ')}`);
  return value;
}

function numberIn(option: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max)
    refuse(option, `has to be a whole number from ${min} to ${max}`);
  return value;
}

/** The value is not shown: it may be a secret. */
function refuse(option: string, what: string): never {
  throw new WhizbangError('INVALID_OPTION', {
    message: `azureServiceBusTransport: the option ${option} ${what}.`,
    details: { option },
  });
}
