// Which engine answers: some speak the protocol of PostgreSQL and are not PostgreSQL.
// In: the text of `select version()`. Out: an error for those that are known not to work, or the name of an unknown one.
// Called by start, migrate, and the transport to other databases. It never tries what an engine can do.
import { WhizbangError } from '../errors.js';
import type { Queryable } from './connection.js';

interface Engine {
  readonly name: string;
  readonly says: RegExp;
  /** What it lacks of what the SQL of this package uses. */
  readonly lacks: string;
}

const refused: readonly Engine[] = [
  { name: 'CockroachDB', says: /cockroach/i, lacks: 'advisory locks and LISTEN' },
  { name: 'YugabyteDB', says: /-YB-|yugabyte/i, lacks: 'a part of the locks and of NOTIFY' },
  { name: 'Amazon Redshift', says: /redshift/i, lacks: 'row locks and triggers' },
  { name: 'Greenplum', says: /greenplum|cloudberry/i, lacks: 'row locks that are skipped' },
  { name: 'Materialize', says: /materialize/i, lacks: 'row locks and functions' },
  { name: 'QuestDB', says: /questdb/i, lacks: 'row locks and functions' },
  { name: 'CrateDB', says: /CrateDB/i, lacks: 'transactions' },
  { name: 'RisingWave', says: /risingwave/i, lacks: 'transactions' },
  { name: 'openGauss', says: /opengauss|gaussdb/i, lacks: 'parts of PostgreSQL 15' },
];

/** What PostgreSQL itself and its builds say: `PostgreSQL 17.2 (Debian 17.2-1) on x86_64-pc-linux-gnu, compiled by …`. */
const postgres = /^(PostgreSQL|EnterpriseDB) \d+/;

const longestText = 200;

/** Asks a database which engine it is, and refuses or returns it as `refuseEngine` does. */
export async function checkEngine(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query('select version() as version');
  return refuseEngine((rows[0] as { version?: unknown } | undefined)?.version);
}

/**
 * Throws ENGINE_UNSUPPORTED for an engine that is known not to work. Returns the text of an unknown one, and undefined
 * for PostgreSQL. `where` names the database in the error.
 */
export function refuseEngine(version: unknown, where = 'This database'): string | undefined {
  const text = String(version).slice(0, longestText);
  const engine = refused.find(({ says }) => says.test(text));
  if (engine === undefined) return postgres.test(text) ? undefined : text;
  throw new WhizbangError('ENGINE_UNSUPPORTED', {
    message: `${where} is ${engine.name}, which lacks ${engine.lacks}: ${JSON.stringify(text)}.`,
    details: { engine: engine.name, version: text },
  });
}
