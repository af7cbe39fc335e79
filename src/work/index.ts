// The loop and what it runs: wake, claim, publish or handle in stream order, report.
// In: the parts of an instance. Out: messages sent and handled, and the reports on them.
// Called by the composition root. It never begins a call by itself beside the one in flight.

export { ConsumerWorker, type ConsumerWorkerOptions } from './handle/consumer-worker.js';
export { type FailedAttempt, FailureDecisions, RetryPolicies } from './handle/decide-failure.js';
export { LocalInvoker, type LocalInvokerOptions } from './handle/invoker.js';
export { ReceptorRecords } from './handle/receptor-records.js';
export { ReceptorRegistry } from './handle/receptor-registry.js';
export { ReceptorRunner, type ReceptorRunnerOptions } from './handle/receptor-runner.js';
export { type Handling, runHandler } from './handle/run-handler.js';
export type { Lane } from './lane.js';
export { LeaseClock, type LeaseClockOptions } from './leases/lease-clock.js';
export { Listener, type ListenerOptions, type Sleep } from './loop/listener.js';
export { WorkGate } from './loop/work-gate.js';
export { WorkLoop, type WorkLoopOptions } from './loop/work-loop.js';
export { DeliveryIntake, type DeliveryIntakeOptions } from './publish/delivery-intake.js';
export { PublisherWorker, type PublisherWorkerOptions } from './publish/publisher-worker.js';
export { Capacity } from './streams/capacity.js';
export type { OrderedItem } from './streams/held-streams.js';
export { OrderedStreamProcessor } from './streams/ordered-stream-processor.js';
export type {
  ItemOutcome,
  OrderedStreamProcessorOptions,
  RunTogether,
  StartedItem,
} from './streams/processor-options.js';
export { poolTransaction } from './transaction/pool-transaction.js';
export {
  answerMsOf,
  type RunInTransaction,
  type RunWatched,
  TransactionWatch,
} from './transaction/transaction-watch.js';
