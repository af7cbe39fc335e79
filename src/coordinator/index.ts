// The only door to PostgreSQL for work: one request, one call of process_work_batch, one batch.
// In: what to store, complete, fail, renew and how much to hand out. Out: the work that is now leased to the caller.
// Called by strategies and workers, or by a program directly. It holds no queue and no timer, never begins
// a transaction, and never sends a call twice unless the server or the connection says that nothing happened.

export type { Instance, WorkBatchRequest } from './request.js';
export { type CoordinatorOptions, WorkCoordinator } from './work-coordinator.js';
