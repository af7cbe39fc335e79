export { CallLine, type CallLineOptions, type RoomNow } from './call-line.js';
export { type CreateStrategyOptions, createStrategy } from './create-strategy.js';
export type { Fate, RunOptions, RunResult } from './run.js';
export type { QueuedUnit, WorkCoordinatorStrategy, WorkUnit } from './strategy.js';
export type { StrategyName } from './when.js';
