// For the tests of applications that use this package, with any test runner: vitest, jest, node:test.
// In: receptors, deciders. Out: a service that runs on a database of its own, what it sent, and accidents on demand.
// Called by users' tests only. Nothing here imitates the runtime: the production code runs, on a real
// PostgreSQL.

export { given } from './given.js';
export type { GivenDecision, GivenEvents } from './given-events.js';
export type { GivenModels } from './given-models.js';
export type { KitDatabase } from './kit-database.js';
export type { KitPerspective } from './kit-perspective.js';
export type { Failure } from './mishaps.js';
export { type ReceptorRun, type RunReceptorOptions, runReceptor } from './run-receptor.js';
export type { PartOf, SentMessage, SentMessages } from './sent-messages.js';
export { startTestKit } from './start-test-kit.js';
export type { DeliverOptions, Patience, TestKit } from './test-kit.js';
export type { TestKitOptions } from './test-kit-options.js';
