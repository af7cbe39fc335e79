// What a batch of events came to, as wh_move_bookmark stores it.
// In: the rows of a batch, and what became of their models. Out: one JSON text.
// Called by the parts that run batches. It never talks to the database.
import type { BatchRow, DueRow, NextBatch } from '../coordinator/index.js';
import { encodeNewMessages } from '../coordinator/index.js';
import type { WhizbangError } from '../errors.js';
import type { NewOutboxMessage } from '../message.js';

/** A model to store. */
export interface ModelToStore {
  readonly id: string;
  /** Null: it has ended. */
  readonly data: unknown;
  readonly version: number;
  readonly scope: unknown;
}

/** An event that could not be applied. */
export interface FailedEvent {
  /** The key of its model. Null: its stream is held. */
  readonly key: string | null;
  readonly row: BatchRow;
  readonly error: Pick<WhizbangError, 'message'>;
  /** False: it is not tried again by itself. */
  readonly isRetried: boolean;
  /** Nothing is wrong with it: an open transaction has its model inline. It is tried again until that has ended. */
  readonly isBusy?: boolean;
}

export interface BatchOutcome {
  readonly models: readonly ModelToStore[];
  readonly failed: readonly FailedEvent[];
  readonly messages: readonly NewOutboxMessage[];
}

const mostAttempts = 10;
const longestPauseSeconds = 600;
const busySeconds = 1;

/** After how many seconds a held stream is tried again; null: not by itself any more. */
function retrySecondsOf(attempts: number): number | null {
  return attempts + 1 >= mostAttempts ? null : Math.min(2 ** attempts, longestPauseSeconds);
}

/** Encodes the outcome of a batch. */
export function encodeResults(batch: NextBatch, { models, failed, messages }: BatchOutcome): string {
  const lists = {
    models,
    holds: failed.map((failure) => holdOf(batch, failure)),
    passed: passedStreams(batch.events),
    ...outcomesOfDue(batch, failed),
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  const json = JSON.stringify(Object.fromEntries(filled));
  if (messages.length === 0) return json;
  const separator = filled.length === 0 ? '' : ',';
  return `${json.slice(0, -1)}${separator}"messages":${encodeNewMessages(messages)}}`;
}

function holdOf(
  { events, held = [] }: NextBatch,
  { key, row, error, isRetried, isBusy }: FailedEvent,
): object {
  const due = held.find((each) => isOf(each, key, row));
  const ofStream = events.filter(({ stream_id }) => stream_id === row.stream_id);
  const quiet = ofStream.filter(({ announces }) => !announces);
  const failure = {
    failed_version: row.version,
    failed_event_id: row.event_id,
    failed_type: row.event_type,
    error: storable(error.message),
    retry_seconds: isBusy ? busySeconds : isRetried ? retrySecondsOf(due?.attempts ?? 0) : null,
  };
  if (key !== null) {
    return { ...failure, model_key: key, tick: row.tick, upto: row.sequence_number - 1 };
  }
  return {
    ...failure,
    stream_id: row.stream_id,
    last_version: row.version - 1,
    passed_version: Math.max(...ofStream.map(({ version }) => version)),
    quiet_version: Math.max(0, ...quiet.map(({ version }) => version)),
  };
}

const longestError = 4_000;

/** Without what jsonb refuses: whatever a function throws, its stream can be held. */
const storable = (text: string) => text.slice(0, longestError).replaceAll('\0', '').toWellFormed();

const isOf = ({ model_key, stream_id }: DueRow, key: string | null, row: BatchRow) =>
  key === null ? stream_id === row.stream_id : model_key === key;

/** The streams that are held, with the last of their events in the batch, and the last that is not announced. */
function passedStreams(events: readonly BatchRow[]): readonly object[] {
  const last = new Map<string, { quiet_version: number }>();
  for (const { stream_id, version, announces, held } of events) {
    if (!held) continue;
    const quiet_version = announces ? (last.get(stream_id)?.quiet_version ?? 0) : version;
    const passed = { stream_id, version, quiet_version };
    last.set(stream_id, passed);
  }
  return [...last.values()];
}

/** What became of the held streams, or of the key, that the batch has tried again. */
function outcomesOfDue({ events, held = [], through }: NextBatch, failed: readonly FailedEvent[]) {
  const applied: object[] = [];
  const freed: object[] = [];
  for (const due of held) {
    const { stream_id, model_key } = due;
    if (failed.some(({ key, row }) => isOf(due, key, row))) continue;
    if (model_key !== undefined) {
      if (through == null) freed.push({ model_key });
      else applied.push({ model_key, ...through });
    } else if (due.is_whole === true) {
      freed.push({ stream_id });
    } else {
      const last_version = events.findLast((row) => row.stream_id === stream_id)?.version;
      applied.push({ stream_id, last_version });
    }
  }
  return { applied, freed };
}
