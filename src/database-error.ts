import { sqlStates, WhizbangError, type WhizbangErrorCode } from './errors.js';

/** What drivers put on an error that the server sent: node-postgres, PGlite and postgres.js agree on these. */
export interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly column?: string;
  readonly column_name?: string;
  readonly position?: string;
}

/**
 * The server's own error, if there is one in the chain of causes (query builders wrap it).
 * `EPIPE` also has the shape of an SQLSTATE, but errors of the operating system carry a `syscall`.
 */
export function serverErrorOf(error: unknown): ServerError | undefined {
  for (let link = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth++) {
    const { code } = link as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !('syscall' in link)) {
      return link as Error & ServerError;
    }
  }
  return undefined;
}

/** An error of a call that had been sent. What did not come from the server is a connection that broke. */
export function fromDatabaseError(error: unknown): WhizbangError {
  if (error instanceof WhizbangError) return error;
  const server = serverErrorOf(error);
  if (server === undefined) {
    return new WhizbangError('CONNECTION_LOST', {
      message: `The connection to PostgreSQL broke during the call: ${messageOf(error)}`,
      cause: error,
    });
  }
  return new WhizbangError(codeOf(server.code), {
    message: server.message,
    details: detailsOf(server),
    cause: error,
  });
}

/** An error from before anything was sent. */
export function connectionFailed(error: unknown): WhizbangError {
  if (error instanceof WhizbangError) return error;
  const sqlState = serverErrorOf(error)?.code;
  return new WhizbangError('CONNECTION_FAILED', {
    message: `No connection to PostgreSQL: ${messageOf(error)}`,
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
    return { detail }; // raised by somebody else under our SQLSTATE: the error itself must still get through
  }
}

function messageOf(error: unknown): string {
  // A refused connection to several addresses is an AggregateError, whose own message is empty.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
