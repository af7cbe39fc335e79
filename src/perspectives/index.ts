// Perspectives in the database: models that follow from events, each kept up to date by one instance at a time.
// In: bookmarks that the loop hands out; questions about models. Out: models.
// Called by the composition root and the loop. What becomes of an event is decided in fold/, without a database.

export { BatchRunner } from './batch-runner.js';
export { PerspectiveBuilds, type RebuildOptions, type SwitchOptions } from './builds.js';
export { type BuildDifferences, type DiffOptions, diffBuilds, type ModelDifference } from './diff-builds.js';
export type { FindOptions } from './find-query.js';
export { InlinePerspectives } from './inline.js';
export { ModelAccess } from './model-access.js';
export {
  type FoundModel,
  type GetOptions,
  type Models,
  type ModelsOf,
  modelsIn,
  type Waiting,
} from './models.js';
export {
  type FailingBatch,
  type HeldStream,
  PerspectiveOperations,
  type PerspectiveStatus,
  type SkipOptions,
} from './operations.js';
export { PerspectiveWorker } from './perspective-worker.js';
export { registerAll } from './register.js';
export { type AnyPerspective, PerspectiveRegistry } from './registry.js';
export { switchOver } from './switch-over.js';
export type { WaitOptions, Written } from './wait-for.js';
export { type BuildStatus, watchBuild } from './watch-build.js';
