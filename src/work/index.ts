// The loop and what it runs: wake, claim, publish or handle in stream order, report.
// In: the parts of an instance. Out: messages sent and handled, and the reports on them.
// Called by the composition root. It never begins a call by itself beside the one in flight.
//
// The folders, in the order in which a message passes them:
// loop         when a call is made and what it hands out; how an instance rests and is woken
// leases       what this instance holds, and until when it surely holds it
// publish      outbox messages to the transport, deliveries to the inbox
// streams      messages of one stream in order, streams side by side
// limits       which messages may begin, where receptors have limits
// handle       a message and its receptors: read, run, complete, or decide between a retry and a dead letter
// transaction  the transaction of a receptor: begun, monitored, committed or given up

export { refusalOf } from './handle/answers.js';
export { ConsumerWorker } from './handle/consumer-worker.js';
export { FailureDecisions } from './handle/decide-failure.js';
export { LocalInvoker } from './handle/invoker.js';
export { ReceptorRecords } from './handle/receptor-records.js';
export { ReceptorRegistry } from './handle/receptor-registry.js';
export { ReceptorRunner } from './handle/receptor-runner.js';
export { RetryPolicies } from './handle/retry-policies.js';
export { runHandler } from './handle/run-handler.js';
export type { Task } from './handle/task.js';
export { LeaseClock } from './leases/lease-clock.js';
export { LimitStore } from './limits/limit-store.js';
export { Limits } from './limits/limits.js';
export { Listener } from './loop/listener.js';
export { Signal } from './loop/signal.js';
export { WorkGate } from './loop/work-gate.js';
export { WorkLoop } from './loop/work-loop.js';
export { DeliveryIntake } from './publish/delivery-intake.js';
export { PublisherWorker } from './publish/publisher-worker.js';
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
