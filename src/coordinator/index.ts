// The only door to PostgreSQL for work: one request, one call of process_work_batch,
// one batch. Beside it are the insert that sends in a user's transaction, and one
// function for each other function of sql/functions that is called.
// In: what to store, complete, fail and renew, and how much to hand out.
// Out: the work that is now leased to the caller.
// Called by strategies and workers, or by a program directly. It holds no queue and no timer, never begins a
// transaction, and never sends a call twice unless the server or the connection shows that nothing happened.

export {
  giveUp,
  type PauseTarget,
  pause,
  releaseInstance,
  releaseStream,
  resume,
} from './action-functions.js';
export {
  type BuildProgress,
  type BuildRow,
  buildProgress,
  buildsOf,
  type DifferentModel,
  diffModels,
  dropBuild,
  rebuildPerspective,
  resetPerspective,
  storeStreams,
  switchPerspective,
  takeStreams,
  wantBuild,
} from './build-functions.js';
export {
  deliver,
  grantsToDeliver,
  neighbours,
  type ReceivedRow,
  type ReceiverFacts,
  receiverFacts,
  unheardAddresses,
} from './delivery-functions.js';
export {
  appendEvents,
  auditTicks,
  loadStream,
  lockStream,
  readEvents,
  readStream,
  saveSnapshot,
  type TickPosition,
  tick,
} from './event-functions.js';
export { explainMessage, explainStream, type ReasonRow } from './explain-functions.js';
export {
  type AskedToSleep,
  canWrite,
  channelOf,
  claimUnique,
  countInterruption,
  fallAsleep,
  holdReceiver,
  joinService,
  type LastFailure,
  lastFailure,
  leaveReceiver,
  listenTo,
  type ReceptorRecord,
  receptorRecords,
  type SeenLease,
  schemasOutOfReach,
  spoilTransaction,
  subscribe,
  type TransferRow,
  transfer,
  transferEach,
  wakeUp,
} from './functions.js';
export { encodeNewMessages, outboxInsert, transactionalInsert } from './insert-statement.js';
export {
  archiveStream,
  deleteStream,
  forgetSubject,
  idleStreams,
  keepHistory,
  openKeys,
  readKeys,
} from './keeping-functions.js';
export {
  type Entering,
  enterLimit,
  removeIdleLimits,
  waitAtLimit,
  waitingLimits,
} from './limit-functions.js';
export { endLeases, type LocalInstance, localInstances } from './local-functions.js';
export {
  type EventProgress,
  eventProgress,
  type FoundRow,
  findModels,
  type HeldRow,
  type HoldRow,
  type LoadedModel,
  loadModel,
  perspectiveHeld,
  perspectiveStatus,
  retryHeld,
  type StatusRow,
  skipHeld,
} from './model-functions.js';
export {
  type DeadLetterChoice,
  type DeadLetterRow,
  discardDeadLetters,
  expire,
  type FailureRow,
  findMessage,
  type GaugesRow,
  listDeadLetters,
  orderWatch,
  type PickedRow,
  readGauges,
  retryDeadLetters,
  retryNow,
} from './operate-functions.js';
export {
  type BatchRow,
  type BookmarkKey,
  type DueRow,
  inlineModels,
  type ModelRow,
  moveBookmark,
  type NextBatch,
  noteFailure,
  type PerspectiveFacts,
  type PerspectiveState,
  readAhead,
  readModels,
  registerPerspective,
  type TakenBookmark,
  takeBookmark,
  writeInline,
} from './perspective-functions.js';
export { type Instance, noRoom, type WorkBatchRequest } from './request.js';
export { type AnswerContent, answerType, openRequest, takeAnswers } from './request-functions.js';
export {
  keepSchedules,
  listSchedules,
  lookAtSchedules,
  moveSchedule,
  type ScheduleRow,
  type ScheduleStep,
} from './schedule-functions.js';
export {
  cancelMessage,
  fireTimers,
  listTimers,
  setTimers,
  splitTimers,
  type TimerRow,
} from './timer-functions.js';
export { type CoordinatorOptions, WorkCoordinator } from './work-coordinator.js';
