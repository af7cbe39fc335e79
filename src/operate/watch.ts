// What happens in a service, seen by asking again and again: failures, dead letters, lost leases, instances, operations,
// broken order.
// In: a few small questions to views, each answered from the head of an index. Out: happenings since the last look.
// It sees what is there when it looks: a failure that is retried and handled between two looks is in the count of its instance only.
import type { Queryable } from '../database/index.js';

/** Something that happened. The facts depend on the kind. */
interface Happening {
  readonly kind:
    | 'instance-came'
    | 'instance-left'
    | 'instance-stale'
    | 'failures'
    | 'failure'
    | 'dead-letter'
    | 'lease-lost'
    | 'operation'
    | 'order-broken';
  readonly at: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

interface InstanceRow {
  readonly instance_id: string;
  readonly host_name: string;
  readonly process_id: number;
  readonly is_stale: boolean;
  readonly failed: number | null;
}

/** How many of a kind one look takes at most. */
const most = 200;

export class Watch {
  readonly #db: Queryable;
  readonly #schema: string;
  #instances: Map<string, InstanceRow> | undefined;
  #seen = { deadLetter: 0, operation: 0, violation: 0 };
  /** Retries and expired leases that were told already, as long as they are there. */
  #told = new Set<string>();

  /** The schema is in quotes. */
  constructor(db: Queryable, schema: string) {
    this.#db = db;
    this.#schema = schema;
  }

  /** Returns what has happened since the last look. The first one only remembers what is there. */
  async look(): Promise<readonly Happening[]> {
    const isFirst = this.#instances === undefined;
    const { at, instances, retries, leases, deadLetters, operations, violations } = await this.#ask(isFirst);
    const happenings = [
      ...this.#instancesChanged(at, instances),
      ...this.#notTold(retries, leases).map((happening) => ({ at, ...happening })),
      ...deadLetters.map((row) => ({
        kind: 'dead-letter' as const,
        at: row.died_at as string,
        text: `${row.event_type} ${row.message_id} was given up after ${row.attempts} attempts: ${row.error ?? ''}`,
        facts: row,
      })),
      ...operations.map((row) => ({
        kind: 'operation' as const,
        at: row.at as string,
        text: `${row.who}: ${row.operation} ${row.target}`,
        facts: row,
      })),
      ...violations.map((row) => ({
        kind: 'order-broken' as const,
        at: row.at as string,
        text: `Message ${row.message_id} of stream ${row.stream_id} (${row.lane}) ${brokenBy(row)}`,
        facts: row,
      })),
    ];
    this.#seen = {
      deadLetter: Math.max(this.#seen.deadLetter, ...deadLetters.map((row) => Number(row.dead_letter_id))),
      operation: Math.max(this.#seen.operation, ...operations.map((row) => Number(row.id))),
      violation: Math.max(this.#seen.violation, ...violations.map((row) => Number(row.id))),
    };
    return isFirst ? [] : happenings;
  }

  async #ask(isFirst: boolean) {
    const from = this.#schema;
    // The first look begins at the end.
    const order = isFirst ? 'desc limit 1' : `limit ${most}`;
    const list = (text: string) => `(select coalesce(json_agg(r), '[]') from (${text}) r)`;
    const soonest = (lane: string) =>
      `(select * from ${from}.wh_retries where lane = '${lane}' order by retry_at limit ${most})`;
    const expired = (lane: string) =>
      `(select lane, stream_id, instance_id, lease_expiry from ${from}.wh_leases
        where lane = '${lane}' and lease_expiry <= clock_timestamp() order by lease_expiry limit ${most})`;
    const text = `select json_build_object(
      'at', clock_timestamp(),
      'instances', ${list(`select instance_id, host_name, process_id, is_stale, failed from ${from}.wh_instances`)},
      'retries', ${list(`${soonest('outbox')} union all ${soonest('inbox')}`)},
      'leases', ${list(`${expired('outbox')} union all ${expired('inbox')}`)},
      'deadLetters', ${list(`select * from ${from}.wh_dead_letter_list where dead_letter_id > $1::text::bigint order by dead_letter_id ${order}`)},
      'operations', ${list(`select id, at, who, operation, target from ${from}.wh_operations where id > $2::text::bigint order by id ${order}`)},
      'violations', ${list(`select * from ${from}.wh_order_violations where id > $3::text::bigint order by id ${order}`)}
    )::text as answer`;
    const { rows } = await this.#db.query(text, [
      String(this.#seen.deadLetter),
      String(this.#seen.operation),
      String(this.#seen.violation),
    ]);
    type Row = Record<string, unknown>;
    return JSON.parse((rows[0] as { answer: string }).answer) as {
      at: string;
      instances: InstanceRow[];
      retries: Row[];
      leases: Row[];
      deadLetters: Row[];
      operations: Row[];
      violations: Row[];
    };
  }

  #instancesChanged(at: string, now: readonly InstanceRow[]): Happening[] {
    const before = this.#instances ?? new Map<string, InstanceRow>();
    this.#instances = new Map(now.map((row) => [row.instance_id, row]));
    const told = (
      kind: Happening['kind'],
      row: InstanceRow,
      text: string,
      facts: object = {},
    ): Happening => ({
      kind,
      at,
      text: `Instance ${row.instance_id} (${row.host_name}, process ${row.process_id}) ${text}`,
      facts: { instance_id: row.instance_id, host_name: row.host_name, process_id: row.process_id, ...facts },
    });
    const gone = [...before.values()].filter((row) => !this.#instances?.has(row.instance_id));
    return [
      ...now.flatMap((row) => {
        const old = before.get(row.instance_id);
        const count = (row.failed ?? 0) - (old?.failed ?? 0);
        return [
          ...(old === undefined ? [told('instance-came', row, 'came')] : []),
          ...(old?.is_stale === true && !row.is_stale
            ? [told('instance-came', row, 'is heard of again')]
            : []),
          ...(old?.is_stale === false && row.is_stale
            ? [told('instance-stale', row, 'is not heard of any more')]
            : []),
          ...(old !== undefined && count > 0
            ? [told('failures', row, `counts ${count} more failures`, { count })]
            : []),
        ];
      }),
      ...gone.map((row) => told('instance-left', row, 'left')),
    ];
  }

  #notTold(retries: readonly Record<string, unknown>[], leases: readonly Record<string, unknown>[]) {
    const all = [
      ...retries.map((row) => ({
        key: `${row.message_id} ${row.attempts}`,
        kind: 'failure' as const,
        text: `${row.event_type} ${row.message_id} has failed ${row.attempts} times, and is tried again at ${row.retry_at}: ${row.error ?? ''}`,
        facts: row,
      })),
      ...leases.map((row) => ({
        key: `${row.lane} ${row.stream_id} ${row.lease_expiry}`,
        kind: 'lease-lost' as const,
        text: `The lease of instance ${row.instance_id} on stream ${row.stream_id} (${row.lane}) has ended`,
        facts: row,
      })),
    ];
    const before = this.#told;
    this.#told = new Set(all.map(({ key }) => key));
    return all.filter(({ key }) => !before.has(key)).map(({ key: _, ...happening }) => happening);
  }
}

function brokenBy({ kind, other_id: other }: Readonly<Record<string, unknown>>): string {
  if (kind === 'overtook') return `was finished before ${other}, which came first`;
  if (kind === 'arrived-late') return `arrived behind ${other}, which was sent later`;
  return 'was finished when its stream had gone on without it';
}
