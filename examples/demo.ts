// `npm run demo`: a shop and a warehouse, two services in one PostgreSQL. The warehouse runs in three
// processes, of which one is killed and one is frozen past its lease while thousands of messages are handled.
// At the end it prints a verdict, from the database alone; the exit code is 1 when any promise was broken.
// Ctrl-C ends it at any time, with all its processes.
import { startEmbeddedPostgres } from '../src/embedded/index.js';
import { parseOptions, UsageError, usage } from './demo/options.js';
import { reportOf } from './demo/report.js';
import { play } from './demo/story.js';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)));
}
try {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) console.log(usage);
  else {
    const { text, exitCode } = reportOf(await onDatabase((url) => play(options, url, interrupted.signal)));
    console.log(text);
    process.exitCode = exitCode;
  }
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? 130 : 1;
  if (interrupted.signal.aborted) console.error('Stopped before the end.');
  else console.error(error instanceof UsageError ? error.message : error);
}

async function onDatabase<T>(work: (connectionString: string) => Promise<T>): Promise<T> {
  const url = process.env.DATABASE_URL;
  if (url) return work(url);
  await using embedded = await startEmbeddedPostgres({ settings: { max_connections: '200' } });
  console.log(`An embedded PostgreSQL ${embedded.version} runs on port ${embedded.port}.`);
  return await work(embedded.connectionString);
}
