// What events become: the state of a stream, for decisions, and models, for queries. Definitions and pure functions.
// In: events in the order of their versions. Out: a state, or models, or FOLD_FAILED.
// Called by the event store, the perspectives and the testing kit. It never talks to the database.

export { type CustomPerspective, perspectiveFor } from './custom-perspective.js';
export { type Decider, type DeciderOptions, decider, type Fold, foldEvents } from './decider.js';
export { deepFreeze } from './deep-freeze.js';
export { foldFailed } from './fold-failed.js';
export { foldModels } from './fold-models.js';
export {
  type KeyedPerspective,
  type KeyedPerspectiveOptions,
  keyedPerspective,
} from './keyed-perspective.js';
export type { ModelPerspective, ModelResult, StoredModel } from './model-result.js';
export { type Announcement, readEvent } from './next-model.js';
export { type Perspective, type PerspectiveOptions, perspective } from './perspective.js';
export type { AppendReceipt, DecideReceipt, Decision, Receipt, StreamVersion } from './receipt.js';
export { type EventRow, StoredEvent } from './stored-event.js';
