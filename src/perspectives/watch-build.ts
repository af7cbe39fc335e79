// How far a build of a perspective is, again and again until it is ready.
// In: its name. Out: its progress, when it has changed; the last one is of a build that is ready.
// Called by `rebuild` and the command line. It does none of the work: instances with the code do.
import { setTimeout as pause } from 'node:timers/promises';
import { type BuildProgress, buildProgress, switchPerspective } from '../coordinator/index.js';
import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';

/** How far a build is. */
export interface BuildStatus {
  /** The build: `orders@2.3`. */
  readonly build: string;
  readonly state: BuildProgress['state'];
  /** From 0 to 1. */
  readonly share: number;
  readonly eventsPerSecond: number;
  /** Estimated; null: not known. */
  readonly secondsLeft: number | null;
  /** How many streams, or models of keys, are held. */
  readonly held: number;
  /** How many instances have the code. Without one it stands still. */
  readonly instances: number;
  /** Whether it is live, or as far as the live one and not to be switched to. */
  readonly isReady: boolean;
}

type Ask = <T>(question: (db: Queryable, schema: string) => Promise<T>) => Promise<T>;

const firstPauseMs = 50;
const longestPauseMs = 500;

export async function* watchBuild(
  ask: Ask,
  build: string,
  signal?: AbortSignal,
): AsyncGenerator<BuildStatus, void, undefined> {
  let last = '';
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    signal?.throwIfAborted();
    const progress = await ask((db, schema) => buildProgress(db, schema, build));
    if (progress === null) throw gone(build);
    const status = statusOf(progress);
    const text = JSON.stringify(status);
    if (text !== last) yield status;
    last = text;
    if (status.isReady) return;
    // Nobody has the code of what was live before; if it is far enough, it needs none.
    if (progress.is_caught_up && progress.instances === 0) {
      await ask((db, schema) => switchPerspective(db, schema, build));
    }
    await pause(pauseMs, undefined, { signal });
  }
}

function statusOf(progress: BuildProgress): BuildStatus {
  const { name, state, switches, done, total, held, instances, is_caught_up, events_per_second } = progress;
  const isReady = state === 'live' || (state !== 'building' && !switches && is_caught_up);
  const left = Math.max(total - done, 0);
  return {
    build: name,
    state,
    share: isReady || total === 0 ? 1 : Math.min(done / total, 1),
    eventsPerSecond: events_per_second,
    secondsLeft: isReady ? 0 : events_per_second > 0 ? Math.ceil(left / events_per_second) : null,
    held,
    instances,
    isReady,
  };
}

const gone = (build: string) =>
  new WhizbangError('INVALID_REQUEST', {
    message: `There is no build ${build}: it was dropped.`,
    hint: 'Begin the rebuild again.',
    details: { build },
  });
