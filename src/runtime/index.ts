// The parts that the composition root puts together and nobody else needs.

export { assemble, type Parts } from './assemble.js';
export { type Database, openDatabase } from './database.js';
export { beforeDeadline } from './deadline.js';
export { type MessageNotice, type Readiness, WhizbangEmitter, type WhizbangEvents } from './events.js';
export { sayGoodbye } from './goodbye.js';
export { localInvoker } from './invoker.js';
export { MessageScope } from './message-scope.js';
export { storeAtOnce, storeInTime, storeInTransaction } from './outbox-writers.js';
export { type DatabaseOptions, otherOptions, type WhizbangOptions } from './whizbang-options.js';
export { Workers, type WorkersOptions } from './workers.js';
