// What is old is archived, forgotten or deleted, by rule, in small steps.
export type { HistoryOptions } from './history.js';
export { Retention, type RetentionOptions, resolveRetention } from './retention.js';
export { type RetentionRule, StreamRetention } from './stream-retention.js';
