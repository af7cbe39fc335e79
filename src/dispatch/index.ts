// A call becomes envelopes, and the envelopes rows for the outbox.
// In: messages made by their definitions, what the call asks for.
// Out: new outbox messages, given to a writer.
// Called by users, through the composition root, and by receptors, through their
// context. It decides what is stored, never when or how: the writer decides that.

export { resolveRequest, sendAsking } from './asking.js';
export {
  continuing,
  Dispatcher,
  type DispatcherOptions,
  type Invocation,
  type Origin,
  type OutboxWriter,
} from './dispatcher.js';
export { outsideReceptors, whileHandling } from './handled-message.js';
export { MessageScope } from './message-scope.js';
export { CollectedMessages, InstanceOutbox, TransactionOutbox } from './outbox-writers.js';
export { notSealing, type Sealer, type SendingInstance, type ToSeal } from './outgoing.js';
export { prepareEvents } from './prepare.js';
export { noReceptor } from './refusals.js';
export { resolveSendOptions } from './resolve-send-options.js';
export type {
  AppendOptions,
  ContextOptions,
  InvokeOptions,
  PublishManyOptions,
  PublishOptions,
  RequestOptions,
  SendManyOptions,
  SendOptions,
  UniqueOptions,
} from './send-options.js';
export type { Sender } from './sender.js';
export { type UniqueReceipt, UniqueSending } from './unique-sending.js';
