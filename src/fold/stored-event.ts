// An event as it is read from the store.
// In: a row, as JSON. Out: an event whose payload is read by the definition that it is asked for.
import { WhizbangError } from '../errors.js';
import type { MessageId, StreamId } from '../message.js';
import { type EventDefinition, readMetadata, readPayload, sealedWith } from '../messages/index.js';

/** A row of the event store, as JSON. */
export interface EventRow {
  readonly event_id: MessageId;
  readonly stream_id: StreamId;
  readonly version: number;
  readonly event_type: string;
  readonly aggregate_type: string;
  readonly event_data: unknown;
  readonly metadata: unknown;
  readonly scope: unknown;
  readonly sequence_number: number;
  readonly created_at: string;
  /** Set when its sealed fields were opened: those whose key is gone. */
  readonly erased?: readonly string[] | undefined;
}

/** An event of the event store. `event.is(OrderPaid)` tells its type and reads its payload. */
export class StoredEvent<Payload = unknown> {
  readonly eventId: MessageId;
  readonly streamId: StreamId;
  /** Its place in the stream: 1 for the first. */
  readonly version: number;
  /** Its number among all events of the store. Numbers may be missing. */
  readonly sequenceNumber: number;
  /** The name of its type when it was stored. */
  readonly type: string;
  readonly aggregateType: string;
  /** When it was appended, by the clock of the database. */
  readonly at: Date;
  readonly scope: unknown;
  readonly correlationId: MessageId;
  readonly causationId: MessageId | null;
  /** The stored JSON; after `is` has returned true, the payload that the schema makes of it. */
  readonly payload: Payload;
  /** The version of the payload's shape as it was stored. */
  readonly schemaVersion: number;
  readonly #json: unknown;
  readonly #erased: readonly string[];

  constructor(row: EventRow) {
    const metadata = readMetadata(row.metadata);
    if (row.erased === undefined && sealedWith(row.metadata) !== undefined) {
      throw new TypeError(`Event ${row.event_id} is sealed: it has to be opened before it is read.`);
    }
    this.eventId = row.event_id;
    this.streamId = row.stream_id;
    this.version = row.version;
    this.sequenceNumber = row.sequence_number;
    this.type = row.event_type;
    this.aggregateType = row.aggregate_type;
    this.at = new Date(row.created_at);
    this.scope = row.scope ?? null;
    this.correlationId = metadata.correlationId ?? row.event_id;
    this.causationId = metadata.causationId ?? null;
    this.schemaVersion = metadata.schemaVersion ?? 1;
    this.#json = row.event_data;
    this.#erased = row.erased ?? [];
    this.payload = row.event_data as Payload;
  }

  /**
   * Whether it is an event of this definition, also under an earlier name. If so, `payload` is upcast and
   * validated. Throws INVALID_MESSAGE when the payload does not fit the schema.
   */
  is<Output>(definition: EventDefinition<never, Output>): this is StoredEvent<Output> {
    if (!isOf(this, definition)) return false;
    const payload = this.read(definition);
    if (payload instanceof Promise) {
      payload.catch(() => {});
      throw isAsync(definition);
    }
    (this as { payload: unknown }).payload = payload;
    return true;
  }

  /** Reads the payload by this definition. Returns a promise when its schema or an upcaster does. */
  read<Output>(definition: EventDefinition<never, Output>): Output | Promise<Output> {
    return readPayload(definition, this.#json, this.schemaVersion, this.#erased);
  }
}

function isOf(event: { readonly type: string }, { type, formerly }: EventDefinition): boolean {
  return event.type === type || formerly.includes(event.type);
}

function isAsync({ type }: EventDefinition): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The payload of ${type} cannot be read at once: its schema or an upcaster returns a promise.`,
    hint: `Write: if (event.type === '${type}') { const payload = await event.read(${type}); … }`,
    details: { option: 'schema', type },
  });
}
