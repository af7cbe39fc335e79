import { sqlStates, WhizbangError, type WhizbangErrorCode } from '../errors.js';

/**
 * Fields that drivers put on an error of the server: node-postgres, PGlite and postgres.js agree on these.
 */
interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly column?: string;
  readonly column_name?: string;
  readonly position?: string;
}

/**
 * Returns the server's own error, if there is one in the
 * chain of causes. Query builders wrap it in different ways.
 */
export function serverErrorOf(error: unknown): ServerError | undefined {
  for (let link = error, depth = 0; typeof link === 'object' && link !== null && depth < 6; depth++) {
    const found = asServerError(link);
    if (found !== undefined) return found;
    link = causeOf(link);
  }
  return undefined;
}

/**
 * Returns the link as an error of the server, if it is one. `EPIPE` also has the
 * shape of an SQLSTATE, but errors of the operating system have a `syscall`. The
 * codes of Prisma (P2010) have that shape too, but its errors have a `clientVersion`.
 */
function asServerError(link: object): ServerError | undefined {
  const { code, originalCode, originalMessage } = link as Record<string, unknown>;
  // The adapters of Prisma keep the code and message of the
  // server beside their own, in an object that is no Error.
  if (isSqlState(originalCode)) {
    return { ...link, code: originalCode, message: String(originalMessage) };
  }
  if (!(link instanceof Error) || !isSqlState(code) || 'syscall' in link || 'clientVersion' in link)
    return undefined;
  return link as Error & ServerError;
}

/**
 * Returns the cause of an error: usually `cause`, in Sequelize `parent`,
 * in TypeORM `driverError`, in Prisma `meta.driverAdapterError`.
 */
function causeOf(link: object): unknown {
  const { cause, parent, driverError, meta } = link as Record<string, unknown>;
  return cause ?? parent ?? driverError ?? (meta as Record<string, unknown> | undefined)?.driverAdapterError;
}

function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}

/**
 * Converts an error of a call that had been sent. An error that
 * did not come from the server means that the connection broke.
 */
export function fromDatabaseError(error: unknown): WhizbangError {
  if (error instanceof WhizbangError) return error;
  const server = serverErrorOf(error);
  if (server === undefined) {
    return new WhizbangError('CONNECTION_LOST', {
      message: `The connection to PostgreSQL broke during the call: ${messageOf(error)}`,
      cause: error,
    });
  }
  const code = codeOf(server.code);
  return new WhizbangError(code, {
    message: code === 'NOT_MIGRATED' ? notMigrated(server) : server.message,
    details: detailsOf(server),
    cause: error,
  });
}

/**
 * Leaves out the arguments of a function that the server does
 * not find: it lists all of them, which hides what is missing.
 */
function notMigrated({ message }: ServerError): string {
  return `The schema is not migrated, or was migrated by an older version: ${message.replace(/\(.*\)/s, '(…)')}.`;
}

const tooManyConnections = '53300';
const serverIsFull =
  'Nothing was sent. All connections that the server, the database or the role may have are in use. Make pools smaller, ' +
  'raise max_connections, or connect through pgbouncer.';

/** Converts an error from before anything was sent. */
export function connectionFailed(error: unknown): WhizbangError {
  if (error instanceof WhizbangError) return error;
  const sqlState = serverErrorOf(error)?.code;
  return new WhizbangError('CONNECTION_FAILED', {
    message: `No connection to PostgreSQL: ${messageOf(error)}`,
    ...(sqlState === tooManyConnections && { hint: serverIsFull }),
    details: sqlState === undefined ? {} : { sqlState },
    cause: error,
  });
}

export function codeOf(sqlState: string): WhizbangErrorCode {
  return sqlStates[sqlState] ?? sqlStates[sqlState.slice(0, 2)] ?? 'DATABASE_ERROR';
}

function detailsOf(server: ServerError): Record<string, unknown> {
  const details: Record<string, unknown> = { sqlState: server.code };
  const field = server.column ?? server.column_name;
  if (field !== undefined) details.field = field;
  if (server.code === 'WB002') Object.assign(details, versionsOf(server.detail));
  else if (server.detail !== undefined) details.detail = server.detail;
  return details;
}

function versionsOf(detail = ''): Record<string, unknown> {
  try {
    const { stream_id, expected_version, actual_version } = JSON.parse(detail) as Record<string, unknown>;
    return { streamId: stream_id, expectedVersion: expected_version, actualVersion: actual_version };
  } catch {
    return { detail }; // raised by other code with our SQLSTATE: the error itself must still be reported
  }
}

function messageOf(error: unknown): string {
  // A refused connection to several addresses is an AggregateError, whose own message is empty.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
