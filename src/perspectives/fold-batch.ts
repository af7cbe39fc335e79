// A batch of a perspective with models: its events are folded, and nothing is stored yet.
// In: a perspective, the rows of a batch, a function that reads models. Out: what became of them.
// Called by the worker of perspectives.
import type { BatchRow, ModelRow, NextBatch } from '../coordinator/index.js';
import { CollectedMessages, continuing, type Origin } from '../dispatch/index.js';
import {
  type Announcement,
  foldModels,
  type ModelPerspective,
  type ModelResult,
  StoredEvent,
  type StoredModel,
} from '../fold/index.js';
import type { NewOutboxMessage } from '../message.js';
import { type Envelope, envelopeOf, streamIdOf } from '../messages/index.js';
import type { BatchOutcome } from './batch-results.js';
import { foldKey, foldLate, type ReadStored } from './fold-retries.js';
import { knownEvents } from './known-events.js';
import type { OpenEvents } from './open-events.js';

type ReadModels = (ids: readonly string[]) => Promise<readonly ModelRow[]>;

export async function foldBatch(
  perspective: ModelPerspective<unknown>,
  batch: NextBatch,
  read: ReadModels,
  { origin, keys }: { readonly origin: Origin; readonly keys: OpenEvents },
): Promise<BatchOutcome> {
  const rows = new Map(batch.events.map((row) => [row.event_id, row]));
  const rowOf = ({ eventId }: StoredEvent) => rows.get(eventId) as BatchRow;
  const opened = await keys.openEvents(batch.events.filter(({ held }) => !held));
  const onlyKey = batch.held?.[0]?.model_key;
  const results = await resultsOf(perspective, { ...batch, events: opened }, async (ids) =>
    storedModels(ids, await read(onlyKey === undefined ? ids : [onlyKey]), onlyKey),
  );
  const isByKey = perspective.kind === 'keyed' && (batch.mode === 'log' || onlyKey !== undefined);
  const announcements: { readonly id: string; readonly announcement: Announcement }[] = [];
  const models = [];
  const failed = [];
  for (const result of results) {
    const { id, event } = result;
    if (result.kind === 'held') {
      failed.push({
        key: isByKey ? (onlyKey ?? id) : null,
        row: rowOf(event),
        error: result.error,
        isRetried: true,
      });
      continue;
    }
    models.push({ id: result.id, data: result.model, version: result.version, scope: event.scope });
    for (const announcement of result.announcements) {
      if (rowOf(announcement.event).announces) announcements.push({ id: result.id, announcement });
    }
  }
  announcements.sort((a, b) => a.announcement.event.sequenceNumber - b.announcement.event.sequenceNumber);
  const messages: NewOutboxMessage[] = [];
  for (const { id, announcement } of announcements) {
    const parent = parentOf(rowOf(announcement.event));
    messages.push(await announced(perspective, id, announcement, { ...origin, parent }));
  }
  return { models, failed, messages };
}

async function resultsOf(
  perspective: ModelPerspective<unknown>,
  { mode, events, held }: NextBatch,
  read: ReadStored,
): Promise<readonly ModelResult<unknown>[]> {
  const all = events.filter((row) => !row.held).map((row) => new StoredEvent(row));
  if (perspective.kind === 'keyed' && mode === 'held') {
    const isOfKey = held?.[0]?.model_key !== undefined;
    return isOfKey ? foldKey(perspective, read, all) : foldLate(perspective, read, all);
  }
  const { known, strange } = knownEvents(perspective, all);
  const results = await foldModels(perspective, read, known);
  // An event before it may have failed: of a stream, or one whose keys are not known.
  const isOfStream = perspective.kind === 'stream';
  const isHeld = (streamId: string) =>
    results.some(
      (each) => each.kind === 'held' && each.streamId === streamId && (isOfStream || each.id === null),
    );
  return [...results, ...strange.filter(({ streamId }) => !isHeld(streamId))];
}

/** The models that are stored. When one key is tried again, nothing is applied to any other. */
function storedModels(
  ids: readonly string[],
  rows: readonly ModelRow[],
  onlyKey: string | undefined,
): ReadonlyMap<string, StoredModel> {
  const models = new Map<string, StoredModel>(
    rows.map(({ id, model, version, held }) => [id, { model, version, held: held === true }]),
  );
  if (onlyKey === undefined) return models;
  for (const id of ids) {
    const stored = models.get(id) ?? { model: null, version: 0 };
    models.set(id, { ...stored, held: id !== onlyKey });
  }
  return models;
}

/**
 * The row of an announcement. Its id follows from what is announced: should it be sent twice, by two builds of a
 * perspective, its receivers take it once.
 */
async function announced(
  { name }: ModelPerspective<unknown>,
  id: string,
  { message, event, nth }: Announcement,
  { parent, ...origin }: Origin & { readonly parent: Envelope },
): Promise<NewOutboxMessage> {
  const collected = new CollectedMessages();
  const messageId = streamIdOf(
    ['announced', name, message.definition.type, event.eventId, id, nth].join('\n'),
  );
  await continuing(origin, parent, collected).publish(message, { messageId });
  return collected.messages[0] as NewOutboxMessage;
}

/** The envelope of a stored event: what is sent because of it continues it. */
export function parentOf({
  event_id,
  stream_id,
  event_type,
  event_data,
  scope,
  metadata,
}: BatchRow): Envelope {
  const row = { messageId: event_id, eventData: event_data, metadata, scope, streamId: stream_id };
  return envelopeOf(row, { kind: 'event', type: event_type });
}
