// What is asked again and again while somebody looks: one statement, from the heads of indexes and counts that stop.
// Whole numbers that may be large are text: JavaScript would round them.
import type { Queryable } from '../../database/index.js';
import { rowsOf } from './reader.js';

export interface LaneSample {
  readonly lane: 'outbox' | 'inbox';
  readonly dueStreams: number;
  readonly oldestDueAt: string | null;
  readonly leasedStreams: number;
  readonly nextLeaseExpiry: string | null;
  readonly scheduledStreams: number;
  readonly nextScheduledAt: string | null;
  readonly unhandledStreams: number;
  readonly limitedStreams: number;
  readonly pausedStreams: number;
  readonly unadmittedMessages: number;
  readonly deadLetters: number;
}

export interface InstanceSample {
  readonly instanceId: string;
  readonly service: string;
  readonly host: string;
  readonly processId: number;
  readonly version: string | null;
  readonly startedAt: string;
  readonly lastHeartbeatAt: string;
  readonly lastCallAt: string | null;
  readonly isStale: boolean;
  /** False: it only sends. */
  readonly hasJoined: boolean;
  readonly outboxShare: number | null;
  readonly inboxShare: number | null;
  readonly outboxRoom: number | null;
  readonly inboxRoom: number | null;
  readonly handlers: readonly string[] | null;
  readonly handled: string | null;
  readonly failed: string | null;
  readonly published: string | null;
  readonly calls: string | null;
}

/** The load of one bucket of partitions with one owner. */
export interface LoadCell {
  readonly lane: 'outbox' | 'inbox';
  readonly owner: string | null;
  readonly bucket: number;
  readonly streams: number;
  readonly leased: number;
  readonly due: number;
  readonly scheduled: number;
  readonly oldestDueAt: string | null;
}

/** Something that an operator has paused. */
export interface PauseSample {
  readonly kind: 'type' | 'stream' | 'intake';
  readonly name: string;
  readonly since: string;
  readonly who: string;
  readonly reason: string | null;
}

export interface Overview {
  /** The time of the database. */
  readonly at: string;
  /** What is paused, the oldest first. */
  readonly pauses: readonly PauseSample[];
  readonly lanes: readonly LaneSample[];
  readonly instances: readonly InstanceSample[];
  /** Only when somebody looks at them: they read every stream that has work. */
  readonly load: readonly LoadCell[] | null;
}

/** The heat map. It reads every stream that has work. */
export function readLoad(db: Queryable, schema: string): Promise<LoadCell[]> {
  return rowsOf(
    db,
    `select lane, owner, bucket, streams, leased_streams as leased, due_streams as due, scheduled_streams as scheduled,
       oldest_due_at as "oldestDueAt"
     from ${schema}.wh_owner_load order by lane, owner, bucket`,
  );
}

/** All but the heat map. */
export async function readOverview(db: Queryable, schema: string): Promise<Overview> {
  const [row] = await rowsOf<Overview>(
    db,
    `select clock_timestamp() as at,
      (select coalesce(json_agg(p), '[]') from (
        select kind, name, since, who, reason from ${schema}.wh_pauses order by since, kind, name limit 1000) p) as pauses,
      (select coalesce(json_agg(l), '[]') from (
        select lane, due_streams as "dueStreams", oldest_due_at as "oldestDueAt", leased_streams as "leasedStreams",
          next_lease_expiry as "nextLeaseExpiry", scheduled_streams as "scheduledStreams", next_scheduled_at as "nextScheduledAt",
          unhandled_streams as "unhandledStreams", limited_streams as "limitedStreams", paused_streams as "pausedStreams", unadmitted_messages as "unadmittedMessages", dead_letters as "deadLetters"
        from ${schema}.wh_lane_status order by lane desc) l) as lanes,
      (select coalesce(json_agg(i), '[]') from (
        select instance_id as "instanceId", service_name as service, host_name as host, process_id as "processId", version,
          started_at as "startedAt", last_heartbeat_at as "lastHeartbeatAt", last_call_at as "lastCallAt", is_stale as "isStale", has_joined as "hasJoined",
          outbox_share as "outboxShare", inbox_share as "inboxShare", outbox_room as "outboxRoom", inbox_room as "inboxRoom",
          handlers, handled::text, failed::text, published::text, calls::text
        from ${schema}.wh_instances order by started_at, instance_id limit 1000) i) as instances,
      null as load`,
  );
  return row as Overview;
}
