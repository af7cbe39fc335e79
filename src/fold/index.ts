// What events become: the state of a stream. Definitions and pure functions.
// In: events in the order of their versions. Out: a state, or FOLD_FAILED.
// Called by the event store. It never talks to the database.

export { type Decider, type DeciderOptions, decider, type Fold, foldEvents } from './decider.js';
export { deepFreeze } from './deep-freeze.js';
export type { AppendReceipt, DecideReceipt, Decision, Receipt, StreamVersion } from './receipt.js';
export { type EventRow, StoredEvent } from './stored-event.js';
