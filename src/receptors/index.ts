export { withAround } from './around.js';
export {
  type BatchContext,
  type BatchHandler,
  BatchOf,
  type BatchOptions,
  batchReceptor,
  batchReceptorFor,
  type MakeBatchReceptor,
} from './batch-receptor.js';
export { type MakeReceptor, receptor, receptorFor } from './receptor.js';
export type { LimitOptions, Rate, ReceptorLimit } from './receptor-limit.js';
export type {
  Around,
  GivenUpHandler,
  Receptor,
  ReceptorContext,
  ReceptorHandler,
  ReceptorOptions,
} from './receptor-types.js';
export {
  FinalError,
  isFinalError,
  type RetryPolicy,
  resolveRetryPolicy,
  retryDelaySeconds,
} from './retry-policy.js';
