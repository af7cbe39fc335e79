// The interruptions: one instance is killed in the middle of its work, another is frozen until others have
// taken over its work, and then continues. The times, and the streams they held, are recorded in the database
// for the verdict.
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Progress } from './progress.js';
import { type WarehouseInstance, willSucceed } from './warehouse.js';
import { world } from './world.js';

interface Chaos {
  readonly pool: pg.Pool;
  readonly leaseSeconds: number;
  readonly progress: () => Promise<Progress>;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Called when other instances have all that the killed one held. */
  readonly onRecovered: () => void;
}

/** The part of all messages that is handled before the kill. */
const killAt = 0.3;
/** The longest wait for others to take over. If they do not, the verdict shows it. */
const longestWaitSeconds = 20;
/** Time after which the server has run the statements that were sent before. */
const arrivalMs = 100;

export async function interrupt(
  [victim, sleeper]: readonly [WarehouseInstance, WarehouseInstance],
  chaos: Chaos,
): Promise<void> {
  const { say, leaseSeconds, signal, onRecovered } = chaos;
  await untilHandled(killAt, chaos);
  const killed = await catchAtWork('kill', victim, chaos);
  await victim.kill();
  say(`${victim.name} killed with SIGKILL, holding ${killed} streams`);
  await untilOthersHaveItsWork(victim, chaos);
  onRecovered();

  const stalled = await catchAtWork('stall', sleeper, chaos);
  sleeper.state = 'stalled';
  say(`${sleeper.name} stalled with SIGSTOP, holding ${stalled} streams, transactions open`);
  const stalledAt = performance.now();
  await wait((leaseSeconds + 1.5) * 1000, undefined, { signal });
  await untilOthersHaveItsWork(sleeper, chaos);
  const seconds = ((performance.now() - stalledAt) / 1000).toFixed(1);
  sleeper.thaw();
  sleeper.state = 'back';
  say(`${sleeper.name} wakes up after ${seconds} s, with a lease of ${leaseSeconds} s`);
}

async function untilHandled(part: number, { progress, signal }: Chaos): Promise<void> {
  for (;;) {
    const { handled, dead, expected } = await progress();
    if (handled + dead >= part * expected) return;
    await wait(100, undefined, { signal });
  }
}

/**
 * Freezes the instance. When it was not in the middle of a receptor, lets it continue and tries again.
 * Returns how many streams it held.
 */
async function catchAtWork(
  what: 'kill' | 'stall',
  instance: WarehouseInstance,
  { pool, signal }: Chaos,
): Promise<number> {
  for (;;) {
    instance.freeze();
    const { rows } = await pool.query('select clock_timestamp()::text as at');
    await wait(arrivalMs, undefined, { signal });
    const held = await noteWhatItHolds(what, (rows[0] as { at: string }).at, instance, pool);
    if (held > 0) return held;
    instance.thaw();
    await wait(20 + Math.random() * 50, undefined, { signal });
  }
}

/**
 * Records the streams that it holds, if it is in the middle of a receptor: one of its sessions has written
 * its effect and waits for the receptor's next statement.
 */
async function noteWhatItHolds(
  what: string,
  at: string,
  { name, instanceId }: WarehouseInstance,
  pool: pg.Pool,
): Promise<number> {
  const { rows } = await pool.query(
    `with held as (
       select array_agg(s.stream_id) as streams from ${world.warehouse}.wh_active_streams s
       where s.instance_id = $3 and s.lane = 'inbox'
     )
     insert into ${world.warehouse}.interruptions
     select $1, $2, $4, h.streams from held h
     where h.streams is not null and exists (
       select from pg_stat_activity a
       where a.application_name = $2 and a.state = 'idle in transaction' and a.query like '%${willSucceed}')
     returning cardinality(streams) as held`,
    [what, name, instanceId, at],
  );
  return (rows[0] as { held: number } | undefined)?.held ?? 0;
}

/**
 * Waits until others have its streams, except those whose rows it has locked itself: they can only continue
 * when it does.
 */
async function untilOthersHaveItsWork(
  { instanceId }: WarehouseInstance,
  { pool, signal }: Chaos,
): Promise<void> {
  for (const end = performance.now() + longestWaitSeconds * 1000; performance.now() < end; ) {
    const { rows } = await pool.query(
      `select from ${world.warehouse}.wh_active_streams
       where instance_id = $1 and lane = 'inbox' limit 1 for update skip locked`,
      [instanceId],
    );
    if (rows.length === 0) return;
    await wait(100, undefined, { signal });
  }
}
