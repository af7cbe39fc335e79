import { WhizbangError } from '../errors.js';
import { StoredEvent } from '../fold/index.js';
import type { StreamId } from '../message.js';
import { newMessageId } from '../message-id.js';
import { isMessageToSend, type MessageToSend, validatePayload } from '../messages/index.js';

/** Events as they would be in the store: validated, as JSON, with the versions of their streams. */
export async function storedEvents(
  events: readonly MessageToSend<'event'>[],
  streamOf: (streamId: StreamId | null, type: string) => StreamId,
): Promise<readonly StoredEvent[]> {
  const versions = new Map<StreamId, number>();
  const stored: StoredEvent[] = [];
  for (const event of events) {
    const { definition } = validEvent(event);
    const { payload, json } = await validatePayload(definition, event.payload);
    const streamId = streamOf(definition.streamOf(payload), definition.type);
    const version = (versions.get(streamId) ?? 0) + 1;
    versions.set(streamId, version);
    const { type, aggregate = '', schemaVersion } = definition;
    const row = {
      event_id: newMessageId(),
      stream_id: streamId,
      version,
      event_type: type,
      event_data: json,
    };
    const rest = { aggregate_type: aggregate, metadata: { schemaVersion }, scope: null };
    const place = { sequence_number: stored.length + 1, created_at: new Date().toISOString() };
    stored.push(new StoredEvent({ ...row, ...rest, ...place }));
  }
  return stored;
}

/** Refuses what was not made by the definition of an event. */
export function validEvent(event: unknown): MessageToSend<'event'> {
  if (isMessageToSend(event) && event.definition.kind === 'event') return event as MessageToSend<'event'>;
  throw new WhizbangError('INVALID_MESSAGE', {
    message: 'given: this is not an event that its definition has made.',
    hint: 'Call the definition with the payload, for example OrderPlaced({ orderId }).',
    details: { issues: [] },
  });
}
