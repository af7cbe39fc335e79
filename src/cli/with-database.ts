import type { Command } from 'commander';
import {
  defaultSchema,
  fromDatabaseError,
  openDatabase,
  type Queryable,
  withPooledClient,
} from '../database/index.js';
import { databaseUrl, databaseUrlOption } from './database-url.js';

/** Options of every command that asks a database. */
export interface DatabaseCommandOptions {
  readonly databaseUrl?: string;
  readonly schema: string;
}

/** Adds the options that say which database and which schema. */
export function withDatabaseOptions(command: Command): Command {
  return command
    .addOption(databaseUrlOption())
    .option('--schema <name>', 'schema of the service', defaultSchema);
}

/** Runs a command over one session of the database. */
export async function withSession<T>(
  options: DatabaseCommandOptions,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ connectionString: databaseUrl(options), listen: false }, 1);
  try {
    return await withPooledClient(database.pool, work);
  } catch (error) {
    throw fromDatabaseError(error);
  } finally {
    await database.close();
  }
}

/** The example below the help of a command. */
export const example = (line: string) => `\nExample:\n  $ ${line}`;
