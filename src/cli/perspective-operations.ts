import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { openDatabase, quoteSchema } from '../database/index.js';
import { StoreAccess, SubjectKeys } from '../events/index.js';
import { ModelAccess, PerspectiveOperations } from '../perspectives/index.js';
import { databaseUrl, databaseUrlOption } from './database-url.js';

/** Options of all commands about perspectives. */
export interface PerspectiveCommandOptions {
  readonly databaseUrl?: string;
  readonly schema: string;
}

/** Adds the options that say where the perspectives are. */
export function withDatabaseOptions(command: Command): Command {
  return command.addOption(databaseUrlOption()).option('--schema <name>', 'schema of the service', 'public');
}

/** Runs a command on the perspectives of a database. */
export async function withPerspectives<T>(
  options: PerspectiveCommandOptions,
  work: (perspectives: PerspectiveOperations) => Promise<T>,
): Promise<T> {
  const connectionString = databaseUrl(options);
  const database = openDatabase({ connectionString, listen: false }, 1);
  try {
    const schema = quoteSchema(options.schema);
    const keys = new SubjectKeys(new StoreAccess({ pool: database.pool, schema }));
    const access = new ModelAccess({ pool: database.pool, schema, keys });
    return await work(new PerspectiveOperations({ access, who: whoIsThis() }));
  } finally {
    await database.close();
  }
}

/** Who runs the command: kept with what is skipped. */
function whoIsThis(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname(); // a user without a name, as in some containers
  }
}
