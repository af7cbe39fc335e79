export { type MakeReceptor, receptor, receptorFor } from './receptor.js';
export type {
  ContextPublishOptions,
  ContextSendOptions,
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
