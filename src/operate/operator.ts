// What an operator looks at first: lanes, instances, streams. In: the views. Out: plain objects, as `--json` prints them.
// Called by the command line. It reads views only, so that a role without any table may use it.
import { type Queryable, quoteSchema } from '../database/index.js';
import { listPauses, type Pause } from './journal.js';
import { statusOfFound, waitingStreams } from './waiting-streams.js';

export interface LaneStatus {
  readonly lane: 'outbox' | 'inbox';
  readonly dueStreams: number;
  readonly oldestDueAt: Date | null;
  readonly leasedStreams: number;
  readonly scheduledStreams: number;
  readonly nextScheduledAt: Date | null;
  readonly unhandledStreams: number;
  readonly limitedStreams: number;
  readonly pausedStreams: number;
  readonly unadmittedMessages: number;
  readonly deadLetters: number;
}

export interface InstanceStatus {
  readonly instanceId: string;
  readonly service: string;
  readonly host: string;
  readonly processId: number;
  readonly version: string | null;
  readonly startedAt: Date;
  readonly lastHeartbeatAt: Date;
  readonly lastCallAt: Date | null;
  readonly isStale: boolean;
  readonly outboxShare: number | null;
  readonly inboxShare: number | null;
  readonly outboxRoom: number | null;
  readonly inboxRoom: number | null;
  readonly handlers: readonly string[] | null;
  readonly handled: number | null;
  readonly failed: number | null;
  readonly published: number | null;
  readonly calls: number | null;
}

export interface StreamStatus {
  readonly lane: 'outbox' | 'inbox';
  readonly streamId: string;
  readonly state: 'held' | 'orphaned' | 'no-handler' | 'limited' | 'paused' | 'scheduled' | 'due';
  readonly dueAt: Date | null;
  readonly heldBy: string | null;
  readonly leaseExpiry: Date | null;
  readonly waitsFor: string | null;
  readonly firstMessageId: string | null;
  readonly firstType: string | null;
  readonly firstAttempts: number | null;
  readonly firstError: string | null;
  readonly depth: number;
}

export interface ServiceStatus {
  readonly at: Date;
  readonly schema: string;
  readonly lanes: readonly LaneStatus[];
  readonly pauses: readonly Pause[];
  readonly instances: readonly InstanceStatus[];
}

export class Operator {
  readonly #db: Queryable;
  readonly #schema: string;
  readonly #quoted: string;

  constructor(db: Queryable, schema: string) {
    this.#db = db;
    this.#schema = schema;
    this.#quoted = quoteSchema(schema);
  }

  async status(): Promise<ServiceStatus> {
    const lanes = await this.#rows<LaneStatus>(
      `select lane, due_streams::int as "dueStreams", oldest_due_at as "oldestDueAt", leased_streams::int as "leasedStreams",
         scheduled_streams::int as "scheduledStreams", next_scheduled_at as "nextScheduledAt",
         unhandled_streams::int as "unhandledStreams", limited_streams::int as "limitedStreams", paused_streams::int as "pausedStreams",
         unadmitted_messages::int as "unadmittedMessages", dead_letters::int as "deadLetters",
         clock_timestamp() as at
       from ${this.#quoted}.wh_lane_status order by lane desc`,
    );
    const at = (lanes[0] as { at?: Date } | undefined)?.at ?? new Date();
    return {
      at,
      schema: this.#schema,
      lanes: lanes.map(({ at: _, ...lane }: LaneStatus & { at?: Date }) => lane),
      pauses: await listPauses(this.#db, this.#quoted),
      instances: await this.instances(),
    };
  }

  instances(): Promise<InstanceStatus[]> {
    return this.#rows(
      `select instance_id as "instanceId", service_name as service, host_name as host, process_id as "processId", version,
         started_at as "startedAt", last_heartbeat_at as "lastHeartbeatAt", last_call_at as "lastCallAt", is_stale as "isStale",
         outbox_share::float8 as "outboxShare", inbox_share::float8 as "inboxShare", outbox_room as "outboxRoom", inbox_room as "inboxRoom",
         handlers, handled::float8 as handled, failed::float8 as failed, published::float8 as published, calls::float8 as calls
       from ${this.#quoted}.wh_instances order by started_at, instance_id`,
    );
  }

  /** The streams that have waited longest, or one. */
  streams(choice: {
    readonly lane?: 'outbox' | 'inbox' | undefined;
    readonly streamId?: string | undefined;
    readonly limit: number;
  }): Promise<StreamStatus[]> {
    const { lane, streamId, limit } = choice;
    const columns = `s.lane, s.stream_id as "streamId", s.state, s.due_at as "dueAt", s.held_by as "heldBy", s.lease_expiry as "leaseExpiry",
      s.waits_for as "waitsFor", s.first_message_id as "firstMessageId", s.first_type as "firstType",
      s.first_attempts as "firstAttempts", s.first_error as "firstError", s.depth::int as depth`;
    if (streamId !== undefined) {
      return this.#rows(
        `select ${columns} from ${this.#quoted}.wh_stream_status s
         where ($1::text is null or s.lane = $1) and s.stream_id = $2::uuid
         order by s.lane desc limit $3`,
        [lane ?? null, streamId, limit],
      );
    }
    return this.#rows(
      `select ${columns} from (${waitingStreams(this.#quoted, lane, '$1')}) f ${statusOfFound(this.#quoted)}
       order by s.due_at nulls last, s.stream_id`,
      [limit],
    );
  }

  async #rows<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#db.query(text, values)).rows as Row[];
  }
}
