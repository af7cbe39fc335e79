// What is done to a whole stream: it is archived, or deleted.
// In: the id of a stream. Out: what was done, or a refusal that says what is in the way.
// Called by the event store. Each is one transaction, and may be asked again.
import { setTimeout as pause } from 'node:timers/promises';
import { archiveStream, deleteStream, tick } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import type { StreamVersion } from '../fold/index.js';
import type { StreamId } from '../message.js';
import type { StoreAccess } from './store-access.js';

/** What `events.archive` has done. `version`: up to this version the stream is archived. */
export interface ArchivedStream extends StreamVersion {
  /** How many events of the stream are in the archive. */
  readonly events: number;
}

/** Ticks until an event that was just appended is in one: the tick may be another session's, which is not done yet. */
const mostTries = 20;

/** Moves the events of a stream to the archive. */
export async function archive(
  access: StoreAccess,
  streamId: StreamId,
  atVersion?: number,
): Promise<ArchivedStream> {
  for (let tries = 1; ; tries++) {
    const answer = await access.ask(undefined, (db, schema) =>
      archiveStream(db, schema, streamId, atVersion),
    );
    const { outcome, version = 0, events = 0 } = answer;
    if (outcome === 'archived') return { streamId, version, events };
    if (outcome === 'unknown') throw unknownStream('archived', streamId);
    if (outcome === 'behind')
      throw notReady('archived', streamId, 'a perspective has not applied all of its events');
    if (outcome === 'changed') throw notReady('archived', streamId, 'an event was appended to it');
    if (tries === mostTries) throw notReady('archived', streamId, 'an event of it is in no tick yet');
    await access.ask(undefined, (db, schema) => tick(db, schema));
    if (tries > 1) await pause(Math.min(2 ** tries, 50));
  }
}

/** Deletes the events of a stream. */
export async function remove(
  access: StoreAccess,
  streamId: StreamId,
  atVersion?: number,
): Promise<StreamVersion> {
  const answer = await access.ask(undefined, (db, schema) => deleteStream(db, schema, streamId, atVersion));
  const { outcome, version = 0, lane } = answer;
  if (outcome === 'deleted') return { streamId, version };
  if (outcome === 'unknown') throw unknownStream('deleted', streamId);
  if (outcome === 'changed') throw notReady('deleted', streamId, 'an event was appended to it');
  throw notReady('deleted', streamId, `an event of it waits in the ${lane} to be appended`);
}

function notReady(what: string, streamId: StreamId, fact: string): WhizbangError {
  const message = `Stream ${streamId} cannot be ${what}: ${fact}.`;
  return new WhizbangError('STREAM_NOT_READY', { message, details: { streamId } });
}

function unknownStream(what: string, streamId: StreamId): WhizbangError {
  const message = `Stream ${streamId} cannot be ${what}: there is no such stream.`;
  return new WhizbangError('UNKNOWN_STREAM', { message, details: { streamId } });
}
