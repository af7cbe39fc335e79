// The event store for users: events are appended, read, and decided upon.
// In: events made by their definitions, ids of streams, deciders. Out: receipts, stored events, states.
// Called by users, through the composition root, and by receptors, through their context. It never sends anything.

export type { AllOptions, LoggedEvent } from './event-log.js';
export { EventStore } from './event-store.js';
export type { InTransaction, StreamOptions } from './event-store-options.js';
export { type Forgotten, forget } from './forget-subject.js';
export { StoreAccess } from './store-access.js';
export { type ArchivedStream, archive, remove } from './stored-streams.js';
export { SubjectKeys } from './subject-keys.js';
export { auditMs, TickAudit } from './tick-audit.js';
