import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/migrate/index.js';
import { openTestDatabase, type TestDatabase } from './database.js';
import { memoryFolder } from './memory-folder.js';
import { searchPath } from './search-path.js';

/**
 * A migrated database on a server of its own, for what is measured. A transaction that writes, in whatever database of a server,
 * keeps dead rows and floors of all of them where they are: tests beside this one would be measured too.
 */
export async function createDatabaseOnOwnServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDatabase> {
  const server = await startEmbeddedPostgres({
    settings: { shared_buffers: '256MB', max_wal_size: '4GB', search_path: searchPath, ...settings },
    tempDir: memoryFolder(),
  });
  const { connectionString } = server;
  await migrate({ connectionString });
  const name = new URL(connectionString).pathname.slice(1);
  return openTestDatabase(name, connectionString, () => server.stop());
}
