// Perspectives in the database: models that follow from events, each kept up to date by one instance at a time.
// In: bookmarks that the loop hands out; questions about models. Out: models.
// Called by the composition root and the loop. What becomes of an event is decided in fold/, without a database.

export { BatchRunner } from './batch-runner.js';
export { PerspectiveBuilds, type RebuildOptions, type SwitchOptions } from './builds.js';
export { type BuildDifferences, type DiffOptions, diffBuilds, type ModelDifference } from './diff-builds.js';
export { PerspectiveWorker } from './perspective-worker.js';
export { registerAll } from './register.js';
export { type AnyPerspective, PerspectiveRegistry } from './registry.js';
export { switchOver } from './switch-over.js';
export { type BuildStatus, watchBuild } from './watch-build.js';
