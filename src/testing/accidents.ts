// Failures of production, on demand and without waiting: an instance dies, or is frozen for too long.
// In: an instance that holds a message whose handler has returned. Out: another instance that has taken over.
// The runtime does not know that this is a test: the first instance loses its connections or waits for them,
// and an update ends its leases.
import { setTimeout as pause } from 'node:timers/promises';
import { type ConnectionPool, type Queryable, quoteSchema } from '../database/index.js';
import type { HeldRun } from './holding-point.js';
import type { KitWorker } from './kit-worker.js';
import { expireLeases } from './passing-time.js';

interface Scene<Tx> {
  readonly pool: ConnectionPool & Queryable;
  readonly schema: string;
  readonly startWorker: () => Promise<KitWorker<Tx>>;
}

/** Kills the instance: its handler has returned, nothing of it is committed, nothing was reported. */
export async function crash<Tx>(
  scene: Scene<Tx>,
  victim: KitWorker<Tx>,
  run: HeldRun,
): Promise<KitWorker<Tx>> {
  // The handler's transaction is dead by then. In a library of the user's, this error rolls it back.
  await victim.die(scene.pool, () =>
    run.fail(new Error('The instance crashed (simulated by the test kit).')),
  );
  const heir = await scene.startWorker();
  await expireLeases(scene.pool, scene.schema, victim.instanceId);
  return heir;
}

/** Freezes the instance until another one has handled its message, and then lets it continue unaware. */
export async function stall<Tx>(
  scene: Scene<Tx>,
  zombie: KitWorker<Tx>,
  run: HeldRun,
  seconds: number,
): Promise<{ readonly heir: KitWorker<Tx>; readonly wasHandled: boolean }> {
  zombie.freeze();
  try {
    const heir = await scene.startWorker();
    const end = performance.now() + seconds * 1000;
    let wasHandled = false;
    while (!wasHandled && performance.now() < end) {
      // Repeated, because a call that was under way may have leased something to it.
      await expireLeases(scene.pool, scene.schema, zombie.instanceId);
      wasHandled = await isHandledOrBlocked(scene, run, heir);
      if (!wasHandled) await pause(5);
    }
    return { heir, wasHandled };
  } finally {
    zombie.thaw();
    run.goOn();
    await zombie.stop();
  }
}

/**
 * Whether the message is handled, or its handler is blocked. Blocked: the second instance holds the message,
 * and its handler waits for a row that the open transaction of the frozen one has written. It waits until the
 * frozen instance continues, so the test must not wait for it.
 */
async function isHandledOrBlocked<Tx>(
  { pool, schema }: Scene<Tx>,
  { messageId }: HeldRun,
  heir: KitWorker<Tx>,
): Promise<boolean> {
  const { rows } = await pool.query(
    `select m.instance_id = $2 and exists (
       select 1 from pg_stat_activity a
       where a.datname = current_database() and cardinality(pg_blocking_pids(a.pid)) > 0
     ) as "isBlocked"
     from ${quoteSchema(schema)}.wh_inbox m
     where m.message_id = $1 and m.processed_at is null`,
    [messageId, heir.instanceId],
  );
  const [row] = rows as { isBlocked: boolean | null }[];
  return row === undefined || row.isBlocked === true;
}
