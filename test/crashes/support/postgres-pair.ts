// A primary and a synchronous standby, both from the programs that the embedded database uses: a commit is answered when both
// have it. Their folders are swept like those of any embedded server, and neither server outlives the test.
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { runAs, serverIdentity } from '../../../src/embedded/identity.js';
import { startEmbeddedPostgres } from '../../../src/embedded/index.js';
import { readPostmasterFile } from '../../../src/embedded/orphan.js';
import { newRunFolder, openWorkspace } from '../../../src/embedded/workspace.js';
import { eventually } from '../../support/eventually.js';
import { memoryFolder } from '../../support/memory-folder.js';
import { searchPath } from '../../support/search-path.js';
import { freezeServer } from './freeze.js';

interface PostgresPair extends AsyncDisposable {
  /** Connection strings. The standby takes no writes before it is promoted. */
  readonly primary: string;
  readonly standby: string;
  /** The primary ends at once, as in a crash. */
  crashPrimary(): Promise<void>;
  /** The primary and all of its backends stop where they are; their connections stay open. */
  freezePrimary(): Promise<void>;
  /** The standby becomes a server of its own. Resolves when it takes writes. */
  promoteStandby(): Promise<void>;
}

/** `prepare` fills the database before it is copied. */
export async function startPostgresPair(
  prepare: (primary: string) => Promise<unknown>,
): Promise<PostgresPair> {
  const identity = await serverIdentity(undefined);
  const workspace = await openWorkspace(memoryFolder());
  const ends: (() => PromiseLike<unknown>)[] = [];
  const end = async () => {
    for (const each of ends.splice(0).reverse()) await each();
  };
  const newDataDir = async () => {
    const dataDir = await newRunFolder(workspace, identity);
    ends.push(() => rm(dataDir, { recursive: true, force: true }));
    return dataDir;
  };
  const start = async (dataDir: string) => {
    // The standby begins where the copy ends, and wants all that came after it.
    const settings = { wal_keep_size: '512MB', search_path: searchPath };
    const server = await startEmbeddedPostgres({ dataDir, durable: false, settings });
    ends.push(() => server.stop());
    return server;
  };

  try {
    const [first, second] = [await newDataDir(), await newDataDir()];
    // Copied while no server runs on it: the programs at hand include no pg_basebackup.
    const original = await start(first);
    await prepare(original.connectionString);
    await original.stop();
    await runAs(identity, 'cp', ['-R', `${first}/.`, second]);
    const primary = (await start(first)).connectionString;
    await follow(second, primary);
    const standby = (await start(second)).connectionString;
    await waitForStandby(primary);
    return {
      primary,
      standby,
      crashPrimary: async () => {
        const { pid } = await readPostmasterFile(first);
        process.kill(pid as number, 'SIGQUIT');
        await eventually(async () => expect(await readPostmasterFile(first)).not.toHaveProperty('pid'));
      },
      freezePrimary: async () => {
        const frozen = await freezeServer(first);
        // Before its server is stopped, which is the next at the end.
        ends.push(() => frozen[Symbol.asyncDispose]());
      },
      promoteStandby: async () => {
        await query(standby, 'select pg_promote()');
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

const standbyName = 'b';

/** The server in this data directory will be a standby of that primary. */
async function follow(dataDir: string, primary: string): Promise<void> {
  const { hostname, port, username, password } = new URL(primary);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${standbyName}`;
  await appendFile(join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await writeFile(join(dataDir, 'standby.signal'), '');
}

/** From here on every commit waits for the standby. Set after the copy was made: once promoted, it waits for nobody. */
async function waitForStandby(primary: string): Promise<void> {
  await query(primary, `alter system set synchronous_standby_names = 'ANY 1 (${standbyName})'`);
  await query(primary, 'select pg_reload_conf()');
  await eventually(async () => {
    const rows = await query(primary, 'select application_name, sync_state from pg_stat_replication');
    expect(rows).toEqual([{ application_name: standbyName, sync_state: 'quorum' }]);
  });
}

async function query(connectionString: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}
