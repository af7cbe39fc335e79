// The progress of the demo, read from the database.
import type pg from 'pg';
import { world } from './world.js';

export interface Progress {
  /** How many messages the shop will have stored at the end. */
  readonly expected: number;
  readonly stored: number;
  readonly delivered: number;
  readonly handled: number;
  readonly dead: number;
  readonly shipped: number;
  /** Messages in any outbox or inbox. */
  readonly waiting: number;
  readonly instances: ReadonlyMap<string, { readonly handled: number; readonly streams: number }>;
}

const question = `
  select
    (select count(*)::int from ${world.shop}.steps) as stored,
    (select count(*)::int from ${world.warehouse}.wh_message_deduplication) as delivered,
    (select count(*)::int from ${world.warehouse}.effects) as handled,
    (select count(*)::int from ${world.warehouse}.wh_dead_letters) as dead,
    (select count(*)::int from ${world.shop}.shipped) as shipped,
    (select count(*)::int from (select from ${world.shop}.wh_outbox union all select from ${world.shop}.wh_inbox
       union all select from ${world.warehouse}.wh_outbox union all select from ${world.warehouse}.wh_inbox) w) as waiting,
    (select coalesce(json_object_agg(e.instance, e.handled), '{}')
       from (select instance, count(*)::int as handled from ${world.warehouse}.effects group by 1) e) as handled_by,
    (select coalesce(json_object_agg(s.instance_id, s.streams), '{}')
       from (select instance_id, count(*)::int as streams from ${world.warehouse}.wh_active_streams
             where instance_id is not null group by 1) s) as held_by`;

export async function readProgress(
  pool: pg.Pool,
  expected: number,
  instances: readonly { readonly name: string; readonly instanceId: string }[],
): Promise<Progress> {
  const { rows } = await pool.query(question);
  const { handled_by, held_by, ...counts } = rows[0] as Omit<Progress, 'expected' | 'instances'> & {
    handled_by: Record<string, number>;
    held_by: Record<string, number>;
  };
  const ofInstance = instances.map(
    ({ name, instanceId }) =>
      [name, { handled: handled_by[name] ?? 0, streams: held_by[instanceId] ?? 0 }] as const,
  );
  return { expected, ...counts, instances: new Map(ofInstance) };
}

export function isOver({ expected, stored, handled, dead, waiting }: Progress): boolean {
  return stored === expected && handled + dead >= expected && waiting === 0;
}
