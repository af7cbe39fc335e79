import type { Queryable } from '../database/index.js';
import { codeOf, serverErrorOf } from '../database/index.js';
import { WhizbangError, type WhizbangErrorCode } from '../errors.js';
import type { ReleaseFile } from './release.js';

const cannotReplace = new Set([
  '42P13', // invalid_function_definition: another return type, name of a parameter, or fewer defaults
  '42P16', // invalid_table_definition: a column of a view went away or changed
  '42723', // duplicate_function: the file has `create`, not `create or replace`
  '42P07', // duplicate_table: the same for a view
]);

const notTheFilesFault = new Set<WhizbangErrorCode>([
  'CONNECTION_LOST',
  'DATABASE_EXHAUSTED',
  'DEADLOCK',
  'PERMISSION_DENIED',
  'SERIALIZATION',
  'TIMEOUT',
]);

/** Runs one file as one simple query, so it may hold several statements and dollar-quoted bodies. */
export async function run(db: Queryable, file: ReleaseFile): Promise<void> {
  try {
    await db.query(file.text);
  } catch (error) {
    const server = serverErrorOf(error);
    if (server === undefined) throw error;
    const code = codeOf(server.code);
    const line = server.position && file.text.slice(0, Number(server.position) - 1).split('\n').length;
    throw new WhizbangError(notTheFilesFault.has(code) ? code : 'MIGRATION_FAILED', {
      message: `The ${file.kind} ${file.name} failed${line ? ` at line ${line}` : ''}: ${server.message}`,
      details: { file: file.name, kind: file.kind, sqlState: server.code, ...(line ? { line } : {}) },
      cause: error,
    });
  }
}

/** Runs the work. Returns false, with nothing done, when PostgreSQL refuses to do it in this way. */
export async function attempt(
  db: Queryable,
  work: () => Promise<void>,
  refusals: ReadonlySet<string> = cannotReplace,
): Promise<boolean> {
  await db.query('savepoint replace_in_place');
  try {
    await work();
  } catch (error) {
    if (!refusals.has(serverErrorOf(error)?.code ?? '')) throw error;
    await db.query('rollback to savepoint replace_in_place');
    return false;
  }
  await db.query('release savepoint replace_in_place');
  return true;
}
