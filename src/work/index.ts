// The loop and what it runs: wake, claim, publish or handle in stream order, report.
// In: the parts of an instance. Out: messages sent and handled, and the reports on them.
// Called by the composition root. It never begins a call by itself beside the one in flight.

export { Capacity } from './capacity.js';
export { ConsumerWorker, type ConsumerWorkerOptions } from './consumer-worker.js';
export { DeliveryIntake, type DeliveryIntakeOptions } from './delivery-intake.js';
export { describeError } from './describe-error.js';
export { failureReport } from './failure-report.js';
export type { Lane } from './lane.js';
export { LeaseClock, type LeaseClockOptions } from './lease-clock.js';
export { type ListenClient, Listener, type ListenerOptions, type Sleep } from './listener.js';
export {
  type ItemOutcome,
  type OrderedItem,
  OrderedStreamProcessor,
  type OrderedStreamProcessorOptions,
  type RunTogether,
  type StartedItem,
} from './ordered-stream-processor.js';
export { poolTransaction } from './pool-transaction.js';
export { PublisherWorker, type PublisherWorkerOptions } from './publisher-worker.js';
export { ReceptorError } from './receptor-error.js';
export { ReceptorRecords } from './receptor-records.js';
export { ReceptorRegistry } from './receptor-registry.js';
export { ReceptorRunner, type ReceptorRunnerOptions } from './receptor-runner.js';
export { type Handling, runHandler } from './run-handler.js';
export {
  answerMsOf,
  type RunInTransaction,
  type RunWatched,
  TransactionWatch,
} from './transaction-watch.js';
export { WorkLoop, type WorkLoopOptions } from './work-loop.js';
