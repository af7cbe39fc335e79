// Real dumps of a database, by the programs of PostgreSQL. Where there is none for the server, tests of dumps are skipped.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { createTestDatabase, openTestDatabase, type TestDatabase } from './database.js';
import { memoryFolder } from './memory-folder.js';
import { searchPath } from './search-path.js';

const program = (name: string) => path.join(process.env.WHIZBANG_PG_BIN ?? '', name);
const run = promisify(execFile);

/** Whether pg_dump is as new as the server: an older one refuses. */
export async function canDump(): Promise<boolean> {
  try {
    await using db = await createTestDatabase();
    const { rows } = await db.pool.query<{ major: number }>(
      `select current_setting('server_version_num')::int / 10000 as major`,
    );
    const version = execFileSync(program('pg_dump'), ['--version'], { encoding: 'utf8' });
    const [, major = 0] = /(\d+)/.exec(version) ?? [];
    return Number(major) >= (rows[0]?.major ?? 0);
  } catch {
    return false;
  }
}

/** Dumps a database, which may be at work, and restores it into a cluster of its own. It ends with the database that is returned. */
export async function restoredDump(db: TestDatabase): Promise<TestDatabase> {
  const folder = mkdtempSync(path.join(memoryFolder(), 'whizbang-dump-'));
  const server = await startEmbeddedPostgres({
    settings: { search_path: searchPath },
    tempDir: memoryFolder(),
  });
  try {
    const file = path.join(folder, 'all.dump');
    await run(program('pg_dump'), ['--format=custom', `--file=${file}`, db.connectionString]);
    const target = `--dbname=${server.connectionString}`;
    await run(program('pg_restore'), ['--no-owner', '--exit-on-error', target, file]);
    const name = new URL(server.connectionString).pathname.slice(1);
    return openTestDatabase(name, server.connectionString, () => server.stop());
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
