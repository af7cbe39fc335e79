// Run as a process of its own by the tests: starts an embedded database, says where, and stays until it is killed.
// After a Ctrl-C it asks the database one more question before it ends, as an application that finishes its work does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';

const server = await startEmbeddedPostgres(JSON.parse(process.argv[2] ?? '{}'));
async function finish(): Promise<never> {
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  const { rows } = await client.query('select 42 as answer');
  console.log(JSON.stringify(rows[0]));
  process.exit(0);
}
process.on('SIGINT', () => void finish());
const serverPid = Number.parseInt(readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8'), 10);
console.log(
  JSON.stringify({ connectionString: server.connectionString, dataDir: server.dataDir, serverPid }),
);
