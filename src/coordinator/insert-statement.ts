// Sending in a user's transaction is one plain insert, or one function that does
// the same. It works at any isolation level and waits for no other transaction.
// It has one text parameter, because every driver passes text on unchanged.
import { fromDatabaseError, type Queryable, quoteSchema } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import type { NewOutboxMessage } from '../message.js';
import { findFault } from '../messages/index.js';
import { sendOptions } from '../options.js';
import { isGivenUuid } from '../uuid.js';

interface InsertStatement {
  readonly text: string;
  readonly values: [string];
}

/** Builds the insert. Rows get their sequence_order in the order of the array. It returns no rows. */
export function transactionalInsert(
  schema: string,
): (messages: readonly NewOutboxMessage[]) => InsertStatement {
  // The column priority only where it is used: a role may have the right to the others alone.
  const textOf = (column: string, value: string) => `
    insert into ${quoteSchema(schema)}.wh_outbox
      (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, scheduled_for${column})
    select m.message_id, m.destination, m.event_type, m.event_data, m.metadata, m.scope, m.stream_id, m.is_event,
           case when m.delay_seconds is null then m.scheduled_for
                else clock_timestamp() + make_interval(secs => m.delay_seconds) end${value}
    from rows from (jsonb_to_recordset($1::text::jsonb) as (
           message_id uuid, destination text, event_type text, event_data jsonb, metadata jsonb, scope jsonb,
           stream_id uuid, is_event boolean, scheduled_for timestamptz, delay_seconds double precision, priority int
         )) with ordinality as m(message_id, destination, event_type, event_data, metadata, scope,
                                 stream_id, is_event, scheduled_for, delay_seconds, priority, ord)
    order by m.ord
    on conflict do nothing`;
  const [text, ranked] = [textOf('', ''), textOf(', priority', ', nullif(m.priority, 0)')];
  return (messages) => ({
    text: messages.some(({ priority }) => priority !== undefined) ? ranked : text,
    values: [encode(messages)],
  });
}

/** Builds the same for services whose messages to themselves go straight to their inbox. */
function transactionalSend(schema: string): (messages: readonly NewOutboxMessage[]) => InsertStatement {
  const text = `select ${quoteSchema(schema)}.wh_send($1::text::jsonb)::text as stored`;
  return (messages) => ({ text, values: [encode(messages)] });
}

/**
 * Returns a function that stores in a user's transaction. Its one statement is built once for each schema.
 */
export function outboxInsert(
  schema: string,
  sendsDirectly: boolean,
): (db: Queryable, messages: readonly NewOutboxMessage[]) => Promise<unknown> {
  const statementOf = sendsDirectly ? transactionalSend(schema) : transactionalInsert(schema);
  return (db, messages) => {
    const { text, values } = statementOf(messages);
    return db.query(text, values).catch((error: unknown) => {
      throw fromDatabaseError(error);
    });
  };
}

/**
 * Checks and encodes the messages. An error of the server would name a
 * type and a value, but not the field, and would abort the transaction.
 */
function encode(messages: readonly NewOutboxMessage[]): string {
  const versioned = messages.findIndex(({ expectedVersion }) => expectedVersion !== undefined);
  if (versioned >= 0) {
    throw refusal(`messages[${versioned}].expectedVersion`, 'cannot be checked by a plain insert');
  }
  return encodeNewMessages(messages);
}

/** Encodes new messages as JSON, after checking their fields. */
export function encodeNewMessages(messages: readonly NewOutboxMessage[]): string {
  const rows = messages.map((message, i) => {
    const { destination, isEvent, scheduledFor, delaySeconds, priority } = message;
    const row = checkedRow(message, i);
    need(isText(destination), i, 'destination', 'is not a text, or is empty');
    need(
      scheduledFor === undefined || !Number.isNaN(scheduledFor.getTime()),
      i,
      'scheduledFor',
      'is an invalid date',
    );
    need(delaySeconds === undefined || Number.isFinite(delaySeconds), i, 'delaySeconds', 'is not a number');
    need(priority === undefined || isInt(priority), i, 'priority', 'is not a whole number of 32 bits');
    return {
      ...row,
      destination,
      is_event: isEvent ?? false,
      scheduled_for: scheduledFor,
      delay_seconds: delaySeconds,
      priority,
    };
  });
  return encodeRows(rows, messages);
}

/** Encodes events to append as JSON, after checking their fields. */
export function encodeEvents(events: readonly NewOutboxMessage[]): string {
  return encodeRows(events.map(checkedRow), events);
}

/** The columns that a new message and an event to append have in common. */
function checkedRow(message: NewOutboxMessage, i: number) {
  const { messageId, eventType, eventData, metadata, scope, streamId, expectedVersion } = message;
  need(isGivenUuid(messageId), i, 'messageId', 'is not a UUID');
  need(isText(eventType), i, 'eventType', 'is not a text, or is empty');
  need(eventData !== undefined && eventData !== null, i, 'eventData', 'is missing');
  need(streamId == null || isGivenUuid(streamId), i, 'streamId', 'is not a UUID');
  return {
    message_id: messageId,
    event_type: eventType,
    event_data: eventData,
    metadata: metadata ?? {},
    scope: scope ?? undefined,
    stream_id: streamId ?? undefined,
    expected_version: expectedVersion,
  };
}

function need(right: boolean, i: number, field: string, fact: string): void {
  if (!right) throw refusal(`messages[${i}].${field}`, fact);
}

/**
 * Matches a zero character or half a surrogate pair, which PostgreSQL
 * cannot store. Few texts match, and only they are searched for a fault.
 */
const unstorable = /\\u0000|\\ud[89a-f]/;

function encodeRows(rows: readonly object[], messages: readonly NewOutboxMessage[]): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(rows);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined && !unstorable.test(text)) return text;
  const fault = findFault(messages);
  if (fault !== undefined) throw refusal(`messages${fault.path}`, fault.message, cause);
  if (text === undefined) throw refusal('messages', 'cannot be written as JSON', cause);
  return text;
}

function isInt(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= sendOptions.priority.max;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function refusal(field: string, fact: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_REQUEST', { message: `${field} ${fact}.`, details: { field }, cause });
}
