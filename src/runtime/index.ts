// The parts that the composition root puts together and nobody else needs.

export { assemble, type Parts } from './assemble.js';
export { type MessageNotice, type Readiness, WhizbangEmitter, type WhizbangEvents } from './events.js';
export { flushAndDeregister } from './flush-and-deregister.js';
export { otherOptions, type WhizbangOptions } from './whizbang-options.js';
export { Workers } from './workers.js';
