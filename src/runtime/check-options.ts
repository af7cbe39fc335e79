import { refuseConnectionString } from '../database/index.js';
import { invalidOption } from '../options.js';
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
  const { service, connectionString, pool, listen, receptors, transport, transaction, logger } = options;
  const { strategy, instanceId } = options;
  if (typeof service !== 'string' || service === '') {
    throw wrong('service', 'service is missing', "Name the service, for example service: 'orders'.");
  }
  refuseDatabase(connectionString, pool);
  if (typeof listen === 'string') refuseConnectionString('createWhizbang', 'listen', listen);
  refuseReceptors(receptors);
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

function refuseReceptors(receptors: unknown): void {
  if (receptors === undefined) return;
  const hint = 'Write receptors: [receptor(OrderPlaced, handler), …].';
  if (!Array.isArray(receptors)) throw wrong('receptors', 'receptors is not a list', hint);
  const index = receptors.findIndex((each) => !has(each, 'handle'));
  if (index >= 0) throw wrong(`receptors[${index}]`, `receptors[${index}] is not a receptor`, hint);
}

function has(value: unknown, ...methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function');
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null;
}
