// A build that has caught up becomes the one that queries read.
// In: its name. Out: whether it is. If not, the loop is told when to look again.
// Called by the runner of batches. It waits for no lock longer than 0.2 s, and never tries twice.
import { switchPerspective } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import type { Logger } from '../logger.js';

interface SwitchOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly answerMs: number;
  /** Called with the time after which it is tried again. */
  readonly onLater: (seconds: number) => void;
  readonly logger: Logger;
}

/** As wh_switch_perspective has them. */
const pauseSeconds = { behind: 0.05, busy: 0.5, blocked: 60, gone: 0 } as const;

export async function switchOver(
  { pool, schema, answerMs, onLater, logger }: SwitchOptions,
  name: string,
): Promise<boolean> {
  const outcome = await withPooledClient(pool, (db) => switchPerspective(db, schema, name), answerMs);
  if (outcome === 'switched') {
    logger.info({ perspective: name }, 'A perspective is live');
    return true;
  }
  if (outcome === 'blocked') {
    const hint =
      'Its columns are others than before. Drop the views that depend on it, and make them anew after it.';
    logger.error(
      { perspective: name, hint },
      'A perspective cannot become live: other views depend on its view',
    );
  }
  onLater(pauseSeconds[outcome]);
  return false;
}
