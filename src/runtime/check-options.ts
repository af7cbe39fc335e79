import { refuseConnectionString } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { invalidOption, type ResolvedOptions, type whizbangOptions } from '../options.js';
import { isGivenUuid } from '../uuid.js';

/** Makes the error for a wrong option of createWhizbang. */
const wrong = (option: string, fact: string, hint: string) =>
  invalidOption('createWhizbang', option, fact, hint);

type Given = Readonly<Record<string, unknown>>;

/** Refuses options that would otherwise fail later, elsewhere, and with an error that does not name them. */
export function refuseWrongParts(options: unknown): void {
  if (!isObject(options)) {
    throw wrong(
      'service',
      'there are no options',
      "Write createWhizbang({ service: 'shop', connectionString }).",
    );
  }
  const { service, connectionString, pool, listen, receptors, transport, transaction, logger, around } =
    options;
  const { strategy, instanceId, addresses } = options;
  if (typeof service !== 'string' || service === '') {
    throw wrong('service', 'service is missing', "Name the service, for example service: 'orders'.");
  }
  refuseDatabase(connectionString, pool);
  if (typeof listen === 'string') refuseConnectionString('createWhizbang', 'listen', listen);
  refuseReceptors(receptors);
  refuseSchedules(options.schedules);
  if (addresses !== undefined && !(Array.isArray(addresses) && addresses.every(isAddress))) {
    throw wrong(
      'addresses',
      'addresses is not a list of addresses',
      "For example addresses: ['orders', 'OrderPlaced'].",
    );
  }
  if (transport !== undefined && !has(transport, 'connect')) {
    throw wrong(
      'transport',
      'transport is not a transport',
      'Give what postgresTransport() or inProcessTransport() returns, or leave it out.',
    );
  }
  if (transaction !== undefined && typeof transaction !== 'function') {
    throw wrong(
      'transaction',
      'transaction is not a function',
      'For example transaction: (work) => db.transaction(work).',
    );
  }
  if (around !== undefined && typeof around !== 'function') {
    throw wrong('around', 'around is not a function', 'Give (message, ctx, next) => next().');
  }
  if (logger !== undefined && !has(logger, 'debug', 'info', 'warn', 'error')) {
    throw wrong(
      'logger',
      'logger is not a logger',
      'It needs debug, info, warn and error, each (facts, message): a pino logger fits.',
    );
  }
  // `scoped` waits for the end of its scope, which an instance does not have: what is sent would never be stored.
  if (strategy !== undefined && strategy !== 'immediate' && strategy !== 'interval') {
    throw wrong(
      'strategy',
      `strategy is ${JSON.stringify(strategy)}`,
      "Give 'immediate' or 'interval'. To store several messages in one call, send them in shop.scope().",
    );
  }
  if (instanceId !== undefined && !isGivenUuid(instanceId)) {
    throw wrong(
      'instanceId',
      'instanceId is not a UUID',
      'Leave it out, or give a UUID that no other process has.',
    );
  }
}

function refuseDatabase(connectionString: unknown, pool: unknown): void {
  if (connectionString === undefined && pool === undefined) {
    throw wrong(
      'connectionString',
      'neither connectionString nor pool is given',
      'Give one of them. If it is given but undefined, check that its environment variable is set.',
    );
  }
  if (connectionString !== undefined && pool !== undefined) {
    throw wrong('pool', 'both connectionString and pool are given', 'Give one of them.');
  }
  if (connectionString !== undefined) {
    refuseConnectionString('createWhizbang', 'connectionString', connectionString);
  } else if (!has(pool, 'connect') || has(pool, 'getTypeParser')) {
    throw wrong(
      'pool',
      has(pool, 'connect') ? 'pool is a single client' : 'pool is not a pool',
      'Give a pool of pg, new pg.Pool({ connectionString }), or a connectionString.',
    );
  }
}

export function refuseReceptors(receptors: unknown): void {
  if (receptors === undefined) return;
  const hint = 'Write receptors: [receptor(OrderPlaced, handler), …].';
  if (!Array.isArray(receptors)) throw wrong('receptors', 'receptors is not a list', hint);
  const index = receptors.findIndex((each) => !has(each, 'handle'));
  if (index >= 0) throw wrong(`receptors[${index}]`, `receptors[${index}] is not a receptor`, hint);
}

function refuseSchedules(schedules: unknown): void {
  if (schedules === undefined) return;
  const hint = "Write schedules: [schedule('nightly', '0 2 * * *', () => CloseBooks({})), …].";
  if (!Array.isArray(schedules)) throw wrong('schedules', 'schedules is not a list', hint);
  const names = new Set<unknown>();
  for (const [i, each] of schedules.entries()) {
    const option = `schedules[${i}]`;
    if (!has(each, 'message')) throw wrong(option, `${option} is not a schedule`, hint);
    const { name } = each as { readonly name: string };
    if (names.has(name)) {
      throw wrong(option, `there are two schedules with the name ${name}`, 'Give each a name of its own.');
    }
    names.add(name);
  }
}

/** Refuses a lease that is too short for two renewals: one that fails must cost nothing. */
export function refuseShortLease({
  leaseSeconds,
  renewSeconds,
}: Pick<ResolvedOptions<typeof whizbangOptions>, 'leaseSeconds' | 'renewSeconds'>): void {
  if (renewSeconds * 2 <= leaseSeconds) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `createWhizbang: renewSeconds is ${renewSeconds} and leaseSeconds is ${leaseSeconds}.`,
    hint: 'Renew at least twice in a lease: set renewSeconds to a third of leaseSeconds.',
    details: { option: 'renewSeconds', value: renewSeconds },
  });
}

const isAddress = (value: unknown) => typeof value === 'string' && value !== '';

function has(value: unknown, ...methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function');
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null;
}
