// A batch of a perspective whose tables are the user's: its functions run in a transaction of the user's library, in
// which the bookmark moves too.
// In: a bookmark that is held. Out: the effects of the functions and the bookmark behind their events, or nothing.
// Called by the batch runner. The bookmark is locked first: so no other instance takes it while this one works.
import {
  type BatchRow,
  type BookmarkKey,
  moveBookmark,
  type NextBatch,
  type TakenBookmark,
  takeBookmark,
} from '../coordinator/index.js';
import { CollectedMessages, continuing, type Origin } from '../dispatch/index.js';
import { type CustomPerspective, readEvent, StoredEvent } from '../fold/index.js';
import type { NewOutboxMessage } from '../message.js';
import { finish, streamIdOf } from '../messages/index.js';
import type { RunWatched } from '../work/index.js';
import { encodeResults } from './batch-results.js';
import { parentOf } from './fold-batch.js';
import { strangeEvent } from './known-events.js';
import type { OpenEvents } from './open-events.js';

interface CustomBatchOptions<Tx> {
  readonly transaction: RunWatched<Tx>;
  /** The schema, quoted. */
  readonly schema: string;
  readonly leaseSeconds: number;
  readonly origin: Origin;
  readonly keys: OpenEvents;
}

interface CustomRun<Tx> {
  readonly perspective: CustomPerspective<Tx>;
  readonly key: BookmarkKey;
  readonly limit: number;
  readonly goesOn: () => boolean;
}

/** A function of the user's has failed at an event, or what it has written. The batch was rolled back. */
export class CustomFailure {
  readonly row: BatchRow;
  readonly error: unknown;
  readonly batch: NextBatch;

  constructor(row: BatchRow, error: unknown, batch: NextBatch) {
    this.row = row;
    this.error = error;
    this.batch = batch;
  }
}

/** Runs a batch. Throws a CustomFailure when a function failed, and other errors when the database did. */
export async function runCustomBatch<Tx>(
  { transaction, schema, leaseSeconds, origin, keys }: CustomBatchOptions<Tx>,
  { perspective, key, limit, goesOn }: CustomRun<Tx>,
): Promise<TakenBookmark | null> {
  let failure: CustomFailure | undefined;
  let last: { readonly row: BatchRow; readonly batch: NextBatch } | undefined;
  try {
    return await transaction(async (tx, watched) => {
      failure = undefined;
      last = undefined;
      const { db } = watched;
      const taken = await takeBookmark(db, schema, key, limit, true);
      if (taken?.next == null) return taken;
      const batch = taken.next;
      const until = performance.now() + (leaseSeconds * 1000) / 4;
      const messages: NewOutboxMessage[] = [];
      let done = 0;
      for (const row of await keys.openEvents(batch.events, { db, holds: true })) {
        if (done > 0 && performance.now() > until) break;
        done++;
        if (row.held) continue;
        last = { row, batch };
        try {
          messages.push(...(await applyRow(perspective, row, tx, origin)));
        } catch (error) {
          failure = new CustomFailure(row, error, batch);
          throw error;
        }
      }
      watched.refuseGivenUp();
      const next = upTo(batch, done);
      const results = encodeResults(next, { models: [], failed: [], messages });
      const move = { taken, next, results, leaseSeconds, limit: 1, goesOn: goesOn() };
      return moveBookmark(db, schema, key, move);
    });
  } catch (error) {
    if (failure !== undefined) throw failure;
    // The functions have returned. What they did fails now: a constraint that is checked at the commit, or an error of
    // a statement that they did not pass on.
    throw last === undefined ? error : new CustomFailure(last.row, error, last.batch);
  }
}

async function applyRow<Tx>(
  perspective: CustomPerspective<Tx>,
  row: BatchRow,
  tx: Tx,
  origin: Origin,
): Promise<readonly NewOutboxMessage[]> {
  const event = new StoredEvent(row);
  const step = perspective.steps.get(row.event_type);
  if (step === undefined) throw strangeEvent(perspective, event).error;
  const payload = await finish(readEvent(perspective, step, event));
  const collected = new CollectedMessages();
  const sender = continuing(origin, parentOf(row), collected);
  let count = 0;
  const publish: Parameters<typeof step.handle>[1]['publish'] = async (given) => {
    for (const message of [given].flat()) {
      const messageId = streamIdOf(['published', perspective.name, row.event_id, String(count++)].join('\n'));
      await sender.publish(message, { messageId });
    }
  };
  await step.handle(payload, { tx, event, publish });
  return row.announces ? collected.messages : [];
}

/** The part of a batch whose first events were applied. */
function upTo(batch: NextBatch, done: number): NextBatch {
  const events = batch.events.slice(0, done);
  const last = events.at(-1);
  if (done === batch.events.length || last === undefined) return batch;
  if (batch.mode === 'log')
    return { ...batch, events, tick: last.tick as number, upto: last.sequence_number };
  const streams = new Set(batch.events.slice(done).map(({ stream_id }) => stream_id));
  const held = (batch.held ?? []).filter(
    ({ stream_id }) => events.some((row) => row.stream_id === stream_id) || !streams.has(stream_id),
  );
  return {
    ...batch,
    events,
    held: held.map((due) => ({ ...due, is_whole: due.is_whole === true && !streams.has(due.stream_id) })),
  };
}
