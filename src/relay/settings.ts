// What a relay is told, by flags, the environment or a file, in this order of precedence.
// In: the three of them. Out: complete settings, or INVALID_OPTION that names the flag, the variable or the key.
import { readFileSync } from 'node:fs';
import { defaultSchema, refuseConnectionString } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { refuseUnknownKeys } from '../options.js';

export interface RelaySettings {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly service: string;
  /** Where to publish: the scheme of the URL chooses the transport. */
  readonly to: string;
  /** Where to receive from. */
  readonly from?: string | undefined;
  /** The addresses to receive. */
  readonly listen: readonly string[];
  readonly healthPort?: number | undefined;
  readonly healthHost: string;
  readonly leaseSeconds: number;
  readonly stopSeconds: number;
  readonly logLevel: LogLevel;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

interface SettingName {
  readonly flag: string;
  /** How the value is called in the help. */
  readonly value: string;
  readonly variable: string;
  readonly help: string;
}

/** Every setting: its key in the file, its flag, its environment variable. */
export const settingNames = {
  databaseUrl: {
    flag: '--database-url',
    value: 'url',
    variable: 'DATABASE_URL',
    help: 'PostgreSQL of the service',
  },
  schema: {
    flag: '--schema',
    value: 'name',
    variable: 'WHIZBANG_SCHEMA',
    help: 'schema of the service; whizbang',
  },
  service: {
    flag: '--service',
    value: 'name',
    variable: 'WHIZBANG_SERVICE',
    help: 'name of the service whose outbox is published',
  },
  to: {
    flag: '--to',
    value: 'url',
    variable: 'WHIZBANG_TO',
    help: 'where to publish: amqp:, nats:, sb:, sqs: or postgres:',
  },
  from: {
    flag: '--from',
    value: 'url',
    variable: 'WHIZBANG_FROM',
    help: 'broker whose messages go into the inbox; none',
  },
  listen: {
    flag: '--listen',
    value: 'address',
    variable: 'WHIZBANG_LISTEN',
    help: 'address to receive with --from, may be repeated; the name of the service',
  },
  healthPort: {
    flag: '--health-port',
    value: 'port',
    variable: 'WHIZBANG_HEALTH_PORT',
    help: 'port of /live, /ready and /metrics; none',
  },
  healthHost: {
    flag: '--health-host',
    value: 'host',
    variable: 'WHIZBANG_HEALTH_HOST',
    help: 'where that port is open; 127.0.0.1',
  },
  leaseSeconds: {
    flag: '--lease-seconds',
    value: 'n',
    variable: 'WHIZBANG_LEASE_SECONDS',
    help: 'how long messages of a relay that was killed wait; 15',
  },
  stopSeconds: {
    flag: '--stop-seconds',
    value: 'n',
    variable: 'WHIZBANG_STOP_SECONDS',
    help: 'how long a stop waits for what is under way; 10',
  },
  logLevel: {
    flag: '--log-level',
    value: 'level',
    variable: 'WHIZBANG_LOG_LEVEL',
    help: `${logLevels.join(', ')}; info`,
  },
} as const satisfies Record<keyof RelaySettings, SettingName>;

type Key = keyof RelaySettings;
/** What was given for a setting, and by what, for the error. */
interface Given {
  readonly value: unknown;
  readonly by: string;
}

/** What the command line gave: the flags, and the file that `--config` names. */
export type GivenSettings = Readonly<Record<string, unknown>>;

/** Reads the settings: a flag, else the environment variable, else the file, else the default. */
export function resolveSettings(flags: GivenSettings, env: NodeJS.ProcessEnv): RelaySettings {
  const config = given(flags.config) ?? given(env.WHIZBANG_CONFIG);
  const file = config === undefined ? {} : readConfig(String(config));
  const find = (key: Key): Given | undefined => {
    const { flag, variable } = settingNames[key];
    const places: readonly Given[] = [
      { value: flags[key], by: flag },
      { value: env[variable], by: variable },
      { value: file[key], by: `${key} in ${String(config)}` },
    ];
    return places.find(({ value }) => given(value) !== undefined);
  };
  const service = text(find('service')) ?? missing('service', 'Name the service whose outbox it is.');
  const from = text(find('from'));
  return Object.freeze({
    databaseUrl: url(find('databaseUrl')) ?? missing('databaseUrl', 'postgres://user@host/database.'),
    schema: text(find('schema')) ?? defaultSchema,
    service,
    to: text(find('to')) ?? missing('to', 'For example amqp://user@host or nats://host.'),
    from,
    listen: from === undefined ? refuseListen(find('listen')) : (texts(find('listen')) ?? [service]),
    healthPort: number(find('healthPort'), 0, 65_535),
    healthHost: text(find('healthHost')) ?? '127.0.0.1',
    leaseSeconds: number(find('leaseSeconds'), 2, 86_400) ?? 15,
    stopSeconds: number(find('stopSeconds'), 0, 3_600) ?? 10,
    logLevel: level(find('logLevel')) ?? 'info',
  });
}

/** Undefined for an empty variable too: that is how a deployment leaves one out. */
const given = (value: unknown) => (value === '' || value === null ? undefined : value);

function readConfig(path: string): Readonly<Record<string, unknown>> {
  const refuse = (fact: string, cause?: unknown) =>
    invalid(
      '--config',
      `${path} ${fact}`,
      'Give a file with one JSON object, such as {"service": "orders"}.',
      cause,
    );
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    throw refuse('is not JSON'); // the parser's own error would quote from the file, which has passwords
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw refuse('is not a JSON object');
  refuseUnknownKeys(path, parsed as Record<string, unknown>, Object.keys(settingNames));
  return parsed as Record<string, unknown>;
}

function text(found: Given | undefined): string | undefined {
  if (found === undefined || typeof found.value === 'string') return found?.value as string | undefined;
  throw invalid(found.by, `${found.by} is not a text`, 'Give a text.');
}

function url(found: Given | undefined): string | undefined {
  const value = text(found);
  if (found !== undefined) refuseConnectionString('relay', found.by, value);
  return value;
}

/** A list, or a text with commas. */
function texts(found: Given | undefined): readonly string[] | undefined {
  if (found === undefined) return undefined;
  const { value, by } = found;
  const list: unknown[] = Array.isArray(value) ? value : String(value).split(',');
  const trimmed = list.map((each) => (typeof each === 'string' ? each.trim() : ''));
  if (trimmed.length > 0 && !trimmed.includes('')) return trimmed;
  throw invalid(by, `${by} has an empty address`, 'Give addresses, such as orders or OrderPlaced.');
}

function refuseListen(found: Given | undefined): readonly string[] {
  if (found === undefined) return [];
  throw invalid(found.by, `${found.by} is given without --from`, 'Give --from, the broker to receive from.');
}

function number(found: Given | undefined, min: number, max: number): number | undefined {
  if (found === undefined) return undefined;
  const { value, by } = found;
  const isWhole = typeof value === 'number' ? Number.isInteger(value) : /^\d{1,9}$/.test(String(value));
  if (isWhole && Number(value) >= min && Number(value) <= max) return Number(value);
  throw invalid(by, `${by} is ${JSON.stringify(value)}`, `Give a whole number from ${min} to ${max}.`);
}

function level(found: Given | undefined): LogLevel | undefined {
  if (found === undefined) return undefined;
  const known = logLevels.find((each) => each === found.value);
  if (known !== undefined) return known;
  throw invalid(
    found.by,
    `${found.by} is ${JSON.stringify(found.value)}`,
    `Give one of ${logLevels.join(', ')}.`,
  );
}

function missing(key: Key, hint: string): never {
  const { flag, variable } = settingNames[key];
  throw invalid(
    flag,
    `${flag} is missing`,
    `Give it, or set ${variable}, or ${key} in the file of --config. ${hint}`,
  );
}

function invalid(option: string, fact: string, hint: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `relay: ${fact}.`,
    hint,
    details: { option },
    cause,
  });
}
