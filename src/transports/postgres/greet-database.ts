import { deliver, grantsToDeliver, type ReceiverFacts, receiverFacts } from '../../coordinator/index.js';
import {
  type ConnectionPool,
  type Queryable,
  quoteSchema,
  refuseEngine,
  withPooledClient,
} from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import type { DatabaseEntry } from './database-options.js';

/**
 * Looks at a database before messages go there. Throws an error that names the entry and what to do: of a kind that
 * `isRefusal` recognises when only a person can help. Returns the text of an engine that is not known.
 */
export async function greetDatabase(
  entry: DatabaseEntry,
  pool: ConnectionPool,
  answerMs: number,
): Promise<string | undefined> {
  const ask = <T>(question: (db: Queryable) => Promise<T>) =>
    withPooledClient(pool, question, answerMs).catch((error: unknown) => {
      throw explained(entry, error);
    });
  const facts = await ask((db) => receiverFacts(db, entry.schema));
  const unknownEngine = refuseEngine(facts.version, `The database of databases.${entry.name}`);
  refuseReceiver(entry, facts);
  if (entry.noCellOf.length > 0) {
    const asking = ask((db) => deliver(db, quoteSchema(entry.schema), entry.noCellOf, entry.noCellOf, []));
    refuseUnlistedCell(entry, (await asking).heard);
  }
  return unknownEngine;
}

function refuseReceiver(entry: DatabaseEntry, facts: ReceiverFacts): void {
  const { name, schema } = entry;
  const details = { database: name, schema };
  const option = `databases.${name}.schema`;
  if (!facts.hasSchema)
    throw new WhizbangError('NOT_MIGRATED', {
      message: `databases.${name}: there is no schema ${JSON.stringify(schema)} in its database.`,
      hint: `Correct ${option}, or run \`whizbang migrate --schema ${schema}\`, with its URL.`,
      details: { ...details, option },
    });
  if (facts.missing.length > 0)
    throw new WhizbangError('NOT_MIGRATED', {
      message: `databases.${name}: schema ${JSON.stringify(schema)} has no ${facts.missing.join(' and no ')}: it is not migrated, or by a version that is too old.`,
      hint: `Run \`whizbang migrate --schema ${schema}\` of this version with the URL of that database, or correct ${option}.`,
      details: { ...details, option, missing: facts.missing },
    });
  if (!facts.mayUse || facts.denied.length > 0) {
    const grants = grantsToDeliver(schema, facts.role);
    throw new WhizbangError('PERMISSION_DENIED', {
      message: `databases.${name}: role ${facts.role} may not deliver to schema ${JSON.stringify(schema)}.`,
      hint: `Run there, as the owner of the schema: ${grants.join(' ')}`,
      details: { ...details, role: facts.role, grants },
    });
  }
  if (facts.readOnly)
    throw new WhizbangError('READ_ONLY_DATABASE', {
      message: `databases.${name}: its server is a replica, or its database is read-only.`,
      hint: `Let databases.${name}.connectionString lead to the primary.`,
      details,
    });
}

/** A cell that is not in the list of its service would get the messages of all of its streams. */
function refuseUnlistedCell({ name }: DatabaseEntry, [service]: readonly string[]): void {
  if (service === undefined) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `postgresTransport: databases.${name} listens to the commands of ${service}, and is not in cells.${service}.`,
    hint: `Add ${name} to the list, or take it out of databases: docs/transports/cells.md tells how a cell is added.`,
    details: { option: `cells.${service}`, database: name },
  });
}

/** The errors that a retry cannot help: a person has to change something. */
export function isRefusal(error: unknown): boolean {
  return error instanceof WhizbangError && refusals.includes(error.code);
}

const refusals = ['INVALID_OPTION', 'NOT_MIGRATED', 'PERMISSION_DENIED', 'ENGINE_UNSUPPORTED'];

/** The error with the name of the entry. The server's text names a role or a database, and never a password. */
export function explained(entry: DatabaseEntry, error: unknown): WhizbangError {
  const setting = `databases.${entry.name}`;
  const known = error instanceof WhizbangError ? error : undefined;
  const { sqlState } = (known?.details ?? {}) as { sqlState?: string };
  const details = { database: entry.name, ...(sqlState !== undefined && { sqlState }) };
  const text = error instanceof Error ? error.message : String(error);
  if (known !== undefined && isRefusal(known)) {
    if (known.message.includes(setting)) return known;
    const { code, hint } = known;
    return new WhizbangError(code, { message: `${setting}: ${text}`, hint, details, cause: known });
  }
  if (isWrongLogin(sqlState) || isWrongCertificate(error))
    return new WhizbangError('INVALID_OPTION', {
      message: `${setting}: its server refuses the connection: ${text}`,
      hint: isWrongLogin(sqlState)
        ? `Correct the role, the password or the name of the database in ${setting}.${entry.given.pool === undefined ? 'connectionString' : 'pool'}, or the server's pg_hba.conf.`
        : `Correct ${setting}.ssl: give the certificate authority of that server, as in pg.`,
      details: { ...details, option: `${setting}.connectionString` },
      cause: error,
    });
  return new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `${setting} cannot be reached: ${text}`,
    hint: `Messages for ${entry.service} stay in the outbox, and all others go on. They are sent when that database answers again. See cause.`,
    details,
    cause: error,
  });
}

/** Class 28: a wrong role or password. 3D000: there is no such database. */
const isWrongLogin = (sqlState: string | undefined) =>
  sqlState !== undefined && (sqlState.startsWith('28') || sqlState === '3D000');

function isWrongCertificate(error: unknown): boolean {
  for (let link = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth++) {
    const { code } = link as { code?: unknown };
    if (typeof code === 'string' && /CERT|^ERR_TLS/.test(code)) return true;
  }
  return false;
}
