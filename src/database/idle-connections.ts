// The check of the idle connections of a pool after one connection has died silently: they may be dead too.
// In: the pool. Out: those that do not answer are destroyed. Called when a connection was not answered.
// It never takes one from its borrower; one that answers goes back to the pool at once.
import { answerWithin } from '../time-limits.js';

interface Client {
  query(text: string): Promise<unknown>;
  release(error: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

interface Pool {
  connect(): Promise<Client>;
  /** The count of a `pg.Pool`. Other pools may not have it. */
  readonly idleCount?: number;
}

const asking = new WeakSet<Pool>();
const ignore = () => {};

/**
 * Checks all idle connections at once: a borrower that got them one after the other
 * would wait for each of them. A borrower that needs one meanwhile gets a new one.
 */
export function askIdle(pool: Pool, withinMs: number): void {
  const { idleCount = 0 } = pool;
  if (asking.has(pool)) return;
  asking.add(pool);
  const asked = Array.from({ length: idleCount }, async () => ask(await pool.connect(), withinMs));
  void Promise.allSettled(asked).then(() => asking.delete(pool));
}

async function ask(client: Client, withinMs: number): Promise<void> {
  client.on?.('error', ignore); // while it is borrowed nobody else listens
  let isAlive = false;
  try {
    await answerWithin(withinMs, client.query('select 1'));
    isAlive = true;
  } finally {
    client.off?.('error', ignore);
    client.release(!isAlive);
  }
}
