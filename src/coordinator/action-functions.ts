// The functions of sql/functions/operate by which operators act. Each writes down who did it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import type { MessageId, StreamId } from '../message.js';
import { oneRow } from './functions.js';

/** Who acts; undefined: the role and the application of the session. */
type Who = string | undefined;

/** What can be paused. */
export interface PauseTarget {
  readonly kind: 'type' | 'stream' | 'intake';
  /** The type, or the id of the stream. */
  readonly name?: string | undefined;
}

/** Makes a message a dead letter that is not finished. Returns whether there was one. */
export function giveUp(
  db: Queryable,
  schema: string,
  messageId: MessageId,
  reason: string | undefined,
  who: Who,
): Promise<boolean> {
  return isTrue(db, `${schema}.wh_give_up($1::text::uuid, $2::text, $3::text)`, [messageId, reason, who]);
}

/** Ends the leases on a stream. Returns whether somebody held it. */
export function releaseStream(db: Queryable, schema: string, streamId: StreamId, who: Who): Promise<boolean> {
  return isTrue(db, `${schema}.wh_release_stream($1::text::uuid, $2::text)`, [streamId, who]);
}

/** Ends all leases of an instance. Returns how many streams and bookmarks it held. */
export async function releaseInstance(
  db: Queryable,
  schema: string,
  instanceId: string,
  who: Who,
): Promise<number> {
  const text = `select ${schema}.wh_release_instance($1::text::uuid, $2::text)::text as answer`;
  return Number((await oneRow<{ answer: string }>(db, text, [instanceId, who ?? null])).answer);
}

/** Pauses a type, a stream or the intake. Returns false if it was paused already. */
export function pause(
  db: Queryable,
  schema: string,
  { kind, name }: PauseTarget,
  reason: string | undefined,
  who: Who,
): Promise<boolean> {
  return isTrue(db, `${schema}.wh_pause($1::text, $2::text, $3::text, $4::text)`, [kind, name, reason, who]);
}

/** Resumes what was paused. Returns false if it was not. */
export function resume(
  db: Queryable,
  schema: string,
  { kind, name }: PauseTarget,
  who: Who,
): Promise<boolean> {
  return isTrue(db, `${schema}.wh_resume($1::text, $2::text, $3::text)`, [kind, name, who]);
}

async function isTrue(
  db: Queryable,
  call: string,
  values: readonly (string | undefined)[],
): Promise<boolean> {
  const text = `select ${call}::text as answer`;
  const given = values.map((value) => value ?? null);
  return (await oneRow<{ answer: string }>(db, text, given)).answer === 'true';
}
