// The parts that the composition root puts together and nobody else needs.

export { assemble, type Parts } from './assemble.js';
export { connect, logLife } from './connect.js';
export type { MessageNotice, Readiness, WhizbangEvents } from './events.js';
export { flushAndDeregister } from './flush-and-deregister.js';
export { alreadyStarted, isStopped, notStarted, withoutTransport } from './refusals.js';
export type { TransactionNeeded, WhizbangOptions } from './whizbang-options.js';
export { Workers } from './workers.js';
