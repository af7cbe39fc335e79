import { openDatabase, quoteSchema } from '../database/index.js';
import { StoreAccess, SubjectKeys } from '../events/index.js';
import { ModelAccess, PerspectiveOperations } from '../perspectives/index.js';
import { databaseUrl } from './database-url.js';
import { whoIsThis } from './who.js';
import type { DatabaseCommandOptions } from './with-database.js';

/** Runs a command on the perspectives of a database. */
export async function withPerspectives<T>(
  options: DatabaseCommandOptions,
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
