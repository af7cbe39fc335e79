import type { MessageId, StreamId } from '../message.js';
import type { MessageToSend } from '../messages/index.js';

/** A stream as it was after some event. */
export interface StreamVersion {
  readonly streamId: StreamId;
  /** The place of that event in its stream: 1 for the first. */
  readonly version: number;
}

/** Where an event is in the store. */
export interface Receipt extends StreamVersion {
  readonly eventId: MessageId;
  /** The number of the event among all events of the store. Numbers may be missing. */
  readonly sequenceNumber: number;
}

/** The receipt of the last event of a call, with those of all its events. */
export interface AppendReceipt extends Receipt {
  readonly receipts: readonly Receipt[];
}

/** The stream after a decision, with the receipts of the events that were decided; of none, if there were none. */
export interface DecideReceipt extends StreamVersion {
  readonly receipts: readonly Receipt[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: users declare functions that return nothing so
type Nothing = undefined | null | void;

/** What is decided: an event, several, or nothing. */
export type Decision = MessageToSend<'event'> | readonly MessageToSend<'event'>[] | Nothing;
