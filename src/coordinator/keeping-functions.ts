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
  readonly outcome: 'archived' | 'deleted' | 'unknown' | 'changed' | 'unsealed' | 'behind' | 'waiting';
  readonly version?: number;
  readonly events?: number;
  readonly lane?: 'outbox' | 'inbox';
}

/** Moves the events of a stream to the archive; with `atVersion`, only if it is at that version. */
export async function archiveStream(
  db: Queryable,
  schema: string,
  streamId: StreamId,
  atVersion?: number,
): Promise<StreamOutcome> {
  const text = `select ${schema}.wh_archive_stream($1::uuid, $2::text::bigint)::text as outcome`;
  const values = [streamId, atVersion === undefined ? null : String(atVersion)];
  return JSON.parse((await oneRow<{ outcome: string }>(db, text, values)).outcome) as StreamOutcome;
}

/** Deletes the events of a stream; with `atVersion`, only if it is at that version. */
export async function deleteStream(
  db: Queryable,
  schema: string,
  streamId: StreamId,
  atVersion?: number,
): Promise<StreamOutcome> {
  const text = `select ${schema}.wh_delete_stream($1::uuid, $2::text::bigint)::text as outcome`;
  const values = [streamId, atVersion === undefined ? null : String(atVersion)];
  return JSON.parse((await oneRow<{ outcome: string }>(db, text, values)).outcome) as StreamOutcome;
}

/** Streams that are to be archived or deleted: those whose last event is old enough and of this kind. */
interface IdleQuestion {
  /** Looks behind this number. */
  readonly after: number;
  readonly days: number;
  readonly aggregate: string | undefined;
  readonly types: readonly string[] | undefined;
  readonly archived: boolean;
}

/** Finds streams that a rule of retention is about, among the next 500 events. `after`: where to go on; null: at the end. */
export async function idleStreams(
  db: Queryable,
  schema: string,
  { after, days, aggregate, types, archived }: IdleQuestion,
): Promise<{
  readonly streams: readonly { readonly stream_id: StreamId; readonly version: number }[];
  readonly after: number | null;
}> {
  const text = `
    select ${schema}.wh_idle_streams(
      $1::text::bigint, $2::text::double precision, $3::text,
      case when $4::text is not null then array(select jsonb_array_elements_text($4::text::jsonb)) end,
      $5::text::boolean)::text as idle`;
  const given = types === undefined ? null : JSON.stringify(types);
  const values = [String(after), String(days), aggregate ?? null, given, String(archived)];
  return JSON.parse((await oneRow<{ idle: string }>(db, text, values)).idle);
}

/** Makes the partitions of the history ahead, and drops those that are older than so many days. Undefined: another instance is at it. */
export async function keepHistory(
  db: Queryable,
  schema: string,
  days: number,
): Promise<{ readonly made: number; readonly dropped: number } | undefined> {
  const text = `select ${schema}.wh_keep_history($1::text::double precision)::text as done`;
  const { done } = await oneRow<{ done: string | null }>(db, text, [String(days)]);
  return done === null ? undefined : (JSON.parse(done) as { made: number; dropped: number });
}
