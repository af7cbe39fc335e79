// Models that are made again where they are: those of some streams, or all of a perspective.
// In: a build of a perspective. Out: a transaction in which nothing else is stored in the build.
// Called by `perspectives.rebuild`. Nothing that was announced is announced again.
import { resetPerspective, storeStreams, takeStreams } from '../coordinator/index.js';
import type { Origin } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { Perspective } from '../fold/index.js';
import type { StreamId } from '../message.js';
import type { RunWatched } from '../work/index.js';
import { encodeResults } from './batch-results.js';
import { foldBatch } from './fold-batch.js';
import type { OpenEvents } from './open-events.js';
import type { AnyPerspective } from './registry.js';

interface InPlaceOptions<Tx> {
  readonly transaction: RunWatched<Tx>;
  /** The schema, quoted. */
  readonly schema: string;
  readonly origin: Origin;
  readonly keys: OpenEvents;
}

/** Folds streams from their first event, and replaces their models. Queries see the old ones or the new ones. */
export function foldStreamsAgain<Tx>(
  { transaction, schema, origin, keys }: InPlaceOptions<Tx>,
  perspective: Perspective<unknown>,
  build: string,
  ids: readonly StreamId[],
): Promise<void> {
  return transaction(async (_tx, { db }) => {
    const batch = await takeStreams(db, schema, build, ids);
    if (batch === null) throw inUse(build);
    const outcome = await foldBatch(perspective, batch, async () => [], { origin, keys });
    const [failed] = outcome.failed;
    if (failed !== undefined) throw failed.error;
    await storeStreams(db, schema, build, ids, encodeResults(batch, outcome));
  });
}

/** Empties a perspective: what it has read is read again, from the first event. */
export function beginAnew<Tx>(
  { transaction, schema }: InPlaceOptions<Tx>,
  perspective: AnyPerspective<Tx>,
  build: string,
): Promise<void> {
  return transaction(async (tx, { db }) => {
    if (!(await resetPerspective(db, schema, build))) throw inUse(build);
    if (perspective.kind === 'custom') await perspective.reset?.({ tx });
  });
}

const inUse = (build: string) =>
  new WhizbangError('TIMEOUT', {
    message: `${build} is in use: a batch of it runs for seconds.`,
    hint: 'Nothing was changed. Try again.',
    details: { build },
  });
