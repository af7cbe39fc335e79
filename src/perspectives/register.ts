import { registerPerspective } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import { type AnyPerspective, factsOf, type PerspectiveRegistry } from './registry.js';

interface RegisterOptions<Tx> {
  readonly registry: PerspectiveRegistry<Tx>;
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly instanceId: string;
  readonly logger: Logger;
}

/** Time limit: the first tick of a store with many events takes a while. */
const registerMs = 600_000;

/** Registers the perspectives of an instance that starts: their tables, views and bookmarks are there after it. */
export async function registerAll<Tx>({ registry, ...options }: RegisterOptions<Tx>): Promise<void> {
  for (const perspective of registry.all) await register(perspective, options);
}

async function register<Tx>(
  perspective: AnyPerspective<Tx>,
  { pool, schema, instanceId, logger }: Omit<RegisterOptions<Tx>, 'registry'>,
): Promise<void> {
  const { name, version } = perspective;
  const facts = factsOf(perspective);
  const registered = await withPooledClient(
    pool,
    (db) => registerPerspective(db, schema, instanceId, facts),
    registerMs,
  ).catch((error: unknown) => {
    throw isTaken(error) ? nameTaken(name, error) : error;
  });
  if (registered.is_new && registered.state !== 'live') {
    logger.info({ perspective: registered.name }, 'A perspective is being built');
  }
  if (registered.has_changed) {
    const hint = `Write version: ${version + 1} if its models would be other ones: they are then built again.`;
    logger.warn({ perspective: registered.name, hint }, `${name} has changed and its version has not`);
  }
}

const isTaken = (error: unknown) =>
  error instanceof WhizbangError && ['42P07', '42809'].includes(String(error.details.sqlState));

function nameTaken(name: string, cause: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `createWhizbang: the perspective ${name} needs a view of this name, and the schema has a table or view ${name} already.`,
    hint: 'Give the perspective another name, or the service a schema of its own.',
    details: { option: 'perspectives', value: name },
    cause,
  });
}
