export { CallLine, type CallLineOptions, type RoomNow } from './call-line.js';
export { type CreateStrategyOptions, createStrategy, type StrategyName } from './create-strategy.js';
export { ImmediateStrategy } from './immediate.js';
export { IntervalStrategy } from './interval.js';
export type { StrategyOptions } from './queueing-strategy.js';
export type { Fate, RunOptions, RunResult } from './run.js';
export { ScopedStrategy } from './scoped.js';
export type { QueuedUnit, WorkCoordinatorStrategy, WorkUnit } from './strategy.js';
