// The functions of sql/functions/keeping, which keep and erase. For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// Called by the event store. They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { StreamId } from '../message.js';
import type { SubjectKey } from '../messages/index.js';
import { oneRow } from './functions.js';

/** A subject, and the stream that an event of it goes to. */
interface SubjectInStream {
  readonly subject: string;
  readonly streamId: StreamId | null;
}

/** Returns the keys by subject, new ones where there were none. `locks`: locks the streams first, to append to them. */
export async function openKeys(
  db: Queryable,
  schema: string,
  wanted: readonly SubjectInStream[],
  locks: boolean,
): Promise<ReadonlyMap<string, SubjectKey>> {
  const text = `
    select ${schema}.wh_open_keys(
      array(select jsonb_array_elements_text($1::text::jsonb)),
      array(select jsonb_array_elements_text($2::text::jsonb)::uuid),
      $3::text::boolean)::text as keys`;
  const subjects = JSON.stringify(wanted.map(({ subject }) => subject));
  const streams = JSON.stringify(wanted.map(({ streamId }) => streamId));
  const { keys } = await oneRow<{ keys: string }>(db, text, [subjects, streams, String(locks)]);
  type Row = { subject: string; key_id: string; key: string };
  return new Map(
    (JSON.parse(keys) as Row[]).map(({ subject, key_id, key }) => [
      subject,
      { keyId: key_id, key: Buffer.from(key, 'base64') },
    ]),
  );
}

/**
 * Returns those of the keys that still exist, by their ids. `holds`: nobody forgets
 * their subjects before the transaction ends, so that what it writes is erased with them.
 */
export async function readKeys(
  db: Queryable,
  schema: string,
  keyIds: readonly string[],
  holds: boolean,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const text = `
    select ${schema}.wh_read_keys(
      array(select jsonb_array_elements_text($1::text::jsonb)::uuid), $2::text::boolean)::text as keys`;
  const { keys } = await oneRow<{ keys: string }>(db, text, [JSON.stringify(keyIds), String(holds)]);
  type Row = { key_id: string; key: string };
  return new Map((JSON.parse(keys) as Row[]).map(({ key_id, key }) => [key_id, Buffer.from(key, 'base64')]));
}

/** Deletes the key of a subject. Returns whether there was one, and the streams with events of the subject. */
export async function forgetSubject(
  db: Queryable,
  schema: string,
  subject: string,
): Promise<{
  readonly hadKey: boolean;
  readonly streams: readonly StreamId[];
  readonly rebuild: readonly string[];
}> {
  const text = `select ${schema}.wh_forget($1::text)::text as forgotten`;
  const { forgotten } = await oneRow<{ forgotten: string }>(db, text, [subject]);
  type Answer = { had_key: boolean; streams: StreamId[]; rebuild: string[] };
  const { had_key, streams, rebuild } = JSON.parse(forgotten) as Answer;
  return { hadKey: had_key, streams, rebuild };
}

/** What became of a stream that was to be archived or deleted; anything but `archived` and `deleted`: nothing was done. */
interface StreamOutcome {
  readonly outcome: 'archived' | 'deleted' | 'unknown' | 'unsealed' | 'behind' | 'waiting';
  readonly version?: number;
  readonly events?: number;
  readonly lane?: 'outbox' | 'inbox';
}

/** Moves the events of a stream to the archive. */
export async function archiveStream(
  db: Queryable,
  schema: string,
  streamId: StreamId,
): Promise<StreamOutcome> {
  const text = `select ${schema}.wh_archive_stream($1::uuid)::text as outcome`;
  return JSON.parse((await oneRow<{ outcome: string }>(db, text, [streamId])).outcome) as StreamOutcome;
}

/** Deletes the events of a stream. */
export async function deleteStream(
  db: Queryable,
  schema: string,
  streamId: StreamId,
): Promise<StreamOutcome> {
  const text = `select ${schema}.wh_delete_stream($1::uuid)::text as outcome`;
  return JSON.parse((await oneRow<{ outcome: string }>(db, text, [streamId])).outcome) as StreamOutcome;
}
