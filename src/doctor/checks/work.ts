// The work: instances that fell silent, work that nobody takes, types that nobody handles, dead letters, tables that grow.
import type { Queryable } from '../../database/index.js';
import { type Finding, fault, warning } from '../finding.js';

/** Work that could run and that nobody has taken for so long. */
const waitingSeconds = 60;
/** Who is alive and has asked for nothing for so long does not ask: its event loop may be blocked. As explain says it. */
const silentSeconds = 10;
const bloatedRows = 100_000;
const largeBytes = 10 * 1024 ** 3;

export async function checkInstances(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select instance_id, host_name, process_id, is_stale, version, partition_count, extract(epoch from clock_timestamp() - last_heartbeat_at)::int as seconds
     from ${schema}.wh_instances where has_joined or takes_inbox or takes_outbox order by started_at`,
  );
  const all = rows as InstanceRow[];
  const living = all.filter((each) => !each.is_stale);
  const found = all
    .filter((each) => each.is_stale)
    .map(({ host_name, process_id, seconds, instance_id }) =>
      warning(
        'stale-instance',
        `${host_name}, process ${process_id}, has been silent for ${seconds} s.`,
        'Look whether it still runs. What it holds goes to others; its row goes away with the next call of another.',
        { instanceId: instance_id },
      ),
    );
  const counts = new Set(living.map((each) => each.partition_count));
  if (counts.size > 1)
    found.push(
      fault(
        'partition-counts',
        `Living instances count with different numbers of partitions: ${[...counts].join(', ')}.`,
        'Give all instances of the service the same partitionCount.',
      ),
    );
  const versions = [...new Set(living.map((each) => each.version ?? 'unknown'))];
  if (versions.length > 1)
    found.push(
      warning(
        'versions-differ',
        `Living instances run different versions: ${versions.join(', ')}.`,
        'Fine during a deploy. Finish it.',
      ),
    );
  return found;
}

interface InstanceRow {
  readonly instance_id: string;
  readonly host_name: string;
  readonly process_id: number;
  readonly is_stale: boolean;
  readonly version: string | null;
  readonly partition_count: number;
  readonly seconds: number;
}

export async function checkBacklog(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select l.lane, l.due_streams::int, l.unadmitted_messages::int as new_messages,
       coalesce(extract(epoch from clock_timestamp() - l.oldest_due_at), 0)::int as seconds,
       exists (
         select from ${schema}.wh_instances i
         where not i.is_stale and case l.lane when 'outbox' then i.takes_outbox else i.takes_inbox end
           and i.last_call_at > clock_timestamp() - make_interval(secs => $1)) as is_taken
     from ${schema}.wh_lane_status l
     where l.oldest_due_at is not null or l.unadmitted_messages > 0 or l.next_lease_expiry < clock_timestamp()
     order by l.lane desc`,
    [silentSeconds],
  );
  const { rows: handlers } = await db.query(
    `select handler, streams::int from ${schema}.wh_waiting_handlers where state = 'no-handler' order by streams desc limit 20`,
  );
  const { rows: letters } = await db.query(
    `select lane, event_type, error, letters::int from ${schema}.wh_dead_letter_summary order by letters desc limit 20`,
  );
  return [
    ...(rows as LaneRow[]).flatMap((lane) => {
      if (!lane.is_taken)
        return fault(
          'nobody-asks',
          `Work of the ${lane.lane} waits (${lane.due_streams} streams, ${lane.new_messages} new messages), and no living instance asks for it.`,
          'Start an instance of the service, or look at those that run: whizbang instances.',
          { ...lane },
        );
      if (lane.seconds < waitingSeconds) return [];
      return warning(
        'behind',
        `${lane.due_streams} streams of the ${lane.lane} could run, the oldest for ${lane.seconds} s.`,
        'Look at the instances (whizbang instances): more of them, more concurrency, or quicker handlers.',
        { ...lane },
      );
    }),
    ...(handlers as { handler: string; streams: number }[]).map(({ handler, streams }) =>
      fault(
        'no-handler',
        `${streams} ${streams === 1 ? 'stream waits' : 'streams wait'} for ${handler}, which no living instance has.`,
        'Deploy the receptor, or discard the messages.',
        { handler, streams },
      ),
    ),
    ...(letters as { lane: string; event_type: string; error: string | null; letters: number }[]).map(
      (dead) =>
        warning(
          'dead-letters',
          `${dead.letters} dead ${dead.letters === 1 ? 'letter' : 'letters'} of ${dead.event_type} in the ${dead.lane}: ${dead.error ?? 'no error'}`,
          'Mend the cause, then `whizbang dead-letters retry`, or `discard`, with --type.',
          { ...dead },
        ),
    ),
  ];
}

interface LaneRow {
  readonly lane: string;
  readonly due_streams: number;
  readonly new_messages: number;
  readonly seconds: number;
  readonly is_taken: boolean;
}

/** What somebody has paused, and may have forgotten. A role that may not read it is told nothing of it. */
export async function checkPauses(db: Queryable, schema: string): Promise<Finding[]> {
  const may = await db.query(`select has_table_privilege($1, 'select') as may`, [`${schema}.wh_pauses`]);
  if ((may.rows[0] as { may: boolean }).may !== true) return [];
  const { rows } = await db.query(
    `select kind, name, who, reason, extract(epoch from clock_timestamp() - since)::int as seconds
     from ${schema}.wh_pauses order by since limit 20`,
  );
  return (rows as { kind: string; name: string; who: string; reason: string | null; seconds: number }[]).map(
    (pause) =>
      warning(
        'paused',
        `${pause.who} has paused the ${`${pause.kind} ${pause.name}`.trim()} for ${pause.seconds} s${pause.reason === null ? '' : `: ${pause.reason}`}.`,
        `whizbang resume ${`${pause.kind} ${pause.name}`.trim()}`,
        pause,
      ),
  );
}

export async function checkTables(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select table_name, table_bytes::float8 + index_bytes::float8 as bytes, live_rows::float8 as live, dead_rows::float8 as dead
     from ${schema}.wh_table_health where dead_rows > $1 and dead_rows > live_rows or table_bytes + index_bytes > $2`,
    [bloatedRows, largeBytes],
  );
  const quoted = schema;
  return (rows as { table_name: string; bytes: number; live: number; dead: number }[]).map((table) =>
    table.dead > bloatedRows && table.dead > table.live
      ? warning(
          'bloat',
          `${table.table_name} has ${table.dead} dead rows beside ${table.live} living ones.`,
          `vacuum (verbose) ${quoted}.${table.table_name}; if it stays so, look for an old transaction.`,
          { ...table },
        )
      : warning(
          'growth',
          `${table.table_name} has grown to ${(table.bytes / 1024 ** 3).toFixed(1)} GiB.`,
          'Set retention, see docs/operate/in-production.',
          { ...table },
        ),
  );
}

export async function checkOrder(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select kind, count(*)::int as count, max(at)::text as last from ${schema}.wh_order_violations
     where at > clock_timestamp() - interval '1 day' group by kind order by kind`,
  );
  return (rows as { kind: string; count: number; last: string }[]).map(({ kind, count, last }) =>
    warning(
      'order-broken',
      `The order of a stream was broken ${count} times in the last day (${kind}), the last time at ${last}.`,
      'Look at wh_order_violations, and report it: docs/operate/order.md says what each kind means.',
      { kind, count, last },
    ),
  );
}

export async function checkClockSteps(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select max(extract(epoch from last_heartbeat_at - clock_timestamp()))::int as seconds from ${schema}.wh_instances`,
  );
  const { seconds } = rows[0] as { seconds: number | null };
  if (seconds === null || seconds < 5) return [];
  return [
    warning(
      'clock-went-back',
      `An instance was heard of ${seconds} s in the future: the clock of the server has gone back.`,
      'Synchronise the server with NTP. The next call of an instance follows the clock.',
      { seconds },
    ),
  ];
}
