// Runs once before all test files: a PostgreSQL (DATABASE_URL if it is set, else the embedded one) and in it the
// template database, migrated, from which every test clones its own. Hands both to the test files; cleans up after them.
import { mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/migrate/index.js';
import { databaseUrl } from './database-url.js';
import { memoryFolder } from './memory-folder.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the server's maintenance database. */
    serverUrl: string;
    /** Name of the migrated database to clone. Its names begin like it. */
    templateDatabase: string;
    /** Where the programs of the tests are made, see bundled.ts. */
    programsFolder: string;
  }
}

const settings = {
  max_connections: '300',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  autovacuum_naptime: '10s',
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  const embedded = given ? undefined : await startEmbeddedPostgres({ settings, tempDir: memoryFolder() });
  const serverUrl = given || (embedded?.connectionString ?? '');
  const template = `whizbang_test_${process.pid}`;

  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`drop database if exists ${template} with (force)`);
  await admin.query(`create database ${template} template template0`);
  await migrate({ connectionString: databaseUrl(serverUrl, template) });
  project.provide('serverUrl', serverUrl);
  project.provide('templateDatabase', template);
  // Among the packages, so that the programs find them.
  const programs = await mkdtemp(fileURLToPath(new URL('../../node_modules/.programs-', import.meta.url)));
  project.provide('programsFolder', programs);

  return async () => {
    await admin.query(`drop database if exists ${template} with (force)`);
    await admin.end();
    await embedded?.stop();
    await rm(programs, { recursive: true });
  };
}
