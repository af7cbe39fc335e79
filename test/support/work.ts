// A small typed caller of process_work_batch: in: only the parameters a test cares about; out: rows as SQL names them.
// `it` gives each test its own database and three instances a, b, c whose ids sort in that order, so their ranks are known.
// `lanes` say what differs between outbox and inbox. Time is moved by the helpers at the end, never waited for.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { test } from 'vitest';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export { WorkBatchFlags as Flags } from '../../src/message.js';
export { Status };

export interface WorkRow {
  source: 'outbox' | 'inbox' | 'perspective';
  message_id: string;
  stream_id: string | null;
  partition_number: number;
  destination: string;
  event_type: string;
  event_data: unknown;
  metadata: unknown;
  scope: unknown;
  status: number;
  flags: number;
  attempts: number;
  sequence_order: number;
  lease_expiry: Date;
}

export interface NewMessage {
  message_id: string;
  event_type: string;
  event_data: unknown;
  metadata?: unknown;
  scope?: unknown;
  stream_id?: string | null;
  is_event?: boolean;
  scheduled_for?: string;
  expected_version?: number;
}

export interface Failure {
  completed_status?: number;
  error?: string | null;
  retry_after_seconds?: number;
  dead_letter?: boolean;
}

export type Parameters = Record<`p_${string}`, unknown>;
type Queryable = Pick<pg.Pool | pg.Client, 'query'>;
type Identified = { message_id: string };

/** One running copy of a service. It sends a parameter only when the test gives it. */
export class Instance {
  constructor(
    readonly id: string,
    private readonly connection: Queryable,
    private readonly settings: Parameters = {},
  ) {}

  async call(...parts: Parameters[]): Promise<WorkRow[]> {
    const given: Parameters = {
      p_instance_id: this.id,
      p_service_name: 'shop',
      p_host_name: 'host-1',
      p_process_id: 1,
      ...this.settings,
      ...Object.assign({}, ...parts),
    };
    const names = Object.keys(given) as (keyof Parameters)[];
    const { rows } = await this.connection.query<WorkRow & { sequence_order: string | null }>(
      `select * from process_work_batch(${names.map((name, i) => `${name} => $${i + 1}`).join(', ')})`,
      names.map((name) => encode(name, given[name])),
    );
    return rows.map((row) => ({ ...row, sequence_order: Number(row.sequence_order) }));
  }

  /** The same instance over another connection. */
  over(connection: Queryable): Instance {
    return new Instance(this.id, connection, this.settings);
  }

  /** The same instance, with these parameters in every call. */
  with(settings: Parameters): Instance {
    return new Instance(this.id, this.connection, { ...this.settings, ...settings });
  }
}

/** Arrays and objects are JSON, but for the ids to renew, which are an array of PostgreSQL's. */
function encode(name: string, value: unknown): unknown {
  return typeof value === 'object' && !name.startsWith('p_renew') && value !== null
    ? JSON.stringify(value)
    : value;
}

export class Lane {
  constructor(
    readonly source: 'outbox' | 'inbox',
    /** The column, and the key of a new message, that says where it goes. */
    readonly target: 'destination' | 'handler_name',
    readonly storedAt: 'created_at' | 'received_at',
    /** A completion that finishes a message, and one that does not. */
    readonly done: number,
    readonly partly = Status.ReceptorProcessed,
    readonly table = `wh_${source}`,
  ) {}

  /** So that `describe.each(lanes)('In the %s', …)` reads well. */
  toString(): string {
    return this.source;
  }

  stores(...messages: NewMessage[]): Parameters {
    const target = { [this.target]: 'orders' };
    return { [`p_new_${this.source}_messages`]: messages.map((each) => ({ ...target, ...each })) };
  }

  completes(items: Identified[], status = this.done): Parameters {
    return { [`p_${this.source}_completions`]: items.map(({ message_id }) => ({ message_id, status })) };
  }

  releases(items: Identified[]): Parameters {
    return this.completes(items, 0);
  }

  fails(items: Identified[], failure: Failure = {}): Parameters {
    const all = { completed_status: 0, error: 'it broke', ...failure };
    return { [`p_${this.source}_failures`]: items.map(({ message_id }) => ({ message_id, ...all })) };
  }

  renews(items: Identified[]): Parameters {
    return { [`p_renew_${this.source}_lease_ids`]: ids(items) };
  }

  room(items: number): Parameters {
    return { [`p_max_${this.source}_items`]: items };
  }

  /** What any client may do: an insert of the columns that it knows, at least the five without a default. */
  async insertPlain(connection: Queryable, ...messages: NewMessage[]): Promise<void> {
    for (const given of messages) {
      const row = { [this.target]: 'orders', stream_id: null, ...given };
      const names = Object.keys(row);
      await connection.query(
        `insert into ${this.table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
        Object.values(row),
      );
    }
  }

  /** The stored rows, in order; of these messages, or all. */
  async rows(db: TestDatabase, items?: Identified[]): Promise<Record<string, unknown>[]> {
    const { rows } = await db.pool.query(
      `select * from ${this.table} where $1::uuid[] is null or message_id = any($1) order by sequence_order`,
      [items === undefined ? null : ids(items)],
    );
    return rows;
  }
}

export const outbox = new Lane('outbox', 'destination', 'created_at', Status.Published);
export const inbox = new Lane('inbox', 'handler_name', 'received_at', Status.EventStored);
export const lanes = [outbox, inbox];

/** Every test with its own database, its pool closed and the database gone afterwards. */
export const it = test.extend<{ db: TestDatabase; a: Instance; b: Instance; c: Instance }>({
  // biome-ignore lint/correctness/noEmptyPattern: the first parameter of a fixture must be a pattern.
  db: async ({}, use) => {
    const db = await createTestDatabase();
    await use(db);
    await db.drop();
  },
  a: ({ db }, use) => use(instance(db, 'a')),
  b: ({ db }, use) => use(instance(db, 'b')),
  c: ({ db }, use) => use(instance(db, 'c')),
});

/** An instance whose id ends in this hexadecimal digit; ids sort by it. */
export function instance(db: TestDatabase, digit: string): Instance {
  return new Instance(`0190aaaa-0000-7000-8000-00000000000${digit}`, db.pool);
}

export function message(fields: Partial<NewMessage> = {}): NewMessage {
  return { message_id: randomUUID(), event_type: 'shop.OrderPlaced', event_data: { total: 1 }, ...fields };
}

/** Messages of one stream, a new one unless it is given. */
export function stream(count: number, fields: Partial<NewMessage> = {}): NewMessage[] {
  const stream_id = randomUUID();
  return Array.from({ length: count }, () => message({ stream_id, ...fields }));
}

/** Messages each of its own stream. */
export function streams(count: number, fields: Partial<NewMessage> = {}): NewMessage[] {
  return Array.from({ length: count }, () => message({ stream_id: randomUUID(), ...fields }));
}

export function ids(items: Identified[]): string[] {
  return items.map(({ message_id }) => message_id);
}

/** A stream in a partition that belongs to this instance, which has called at least once. */
export async function streamOwnedBy(db: TestDatabase, owner: Instance): Promise<string> {
  const { rows } = await db.pool.query<{ stream_id: string }>(
    `select s.stream_id
     from (select gen_random_uuid() as stream_id from generate_series(1, 300)) s
     join wh_partition_assignments p on p.partition_number = wh_partition(s.stream_id, 10000)
     where p.instance_id = $1
     limit 1`,
    [owner.id],
  );
  if (rows[0] === undefined) throw new Error(`Instance ${owner.id} owns no partition.`);
  return rows[0].stream_id;
}

/** The leases of an instance end now. */
export async function expireLeases(db: TestDatabase, { id }: Instance): Promise<void> {
  for (const table of ['wh_active_streams', 'wh_outbox', 'wh_inbox']) {
    await db.pool.query(`update ${table} set lease_expiry = clock_timestamp() where instance_id = $1`, [id]);
  }
}

/** What is scheduled for later is due now. */
export async function reachSchedule(db: TestDatabase): Promise<void> {
  for (const table of ['wh_outbox', 'wh_inbox']) {
    await db.pool.query(`update ${table} set scheduled_for = clock_timestamp() where scheduled_for > now()`);
  }
  await db.pool.query(
    'update wh_active_streams set available_at = clock_timestamp() where available_at > now()',
  );
}

/** The instance has not been heard of for so long. */
export async function silence(db: TestDatabase, { id }: Instance, seconds: number): Promise<void> {
  await db.pool.query(
    'update wh_service_instances set last_heartbeat_at = clock_timestamp() - make_interval(secs => $2) where instance_id = $1',
    [id, seconds],
  );
}

/** What waits without a lease has waited so much longer. The searches' floors go down with it. */
export async function letWaitingAge(db: TestDatabase, seconds: number): Promise<void> {
  await db.pool.query(
    'update wh_active_streams set available_at = available_at - make_interval(secs => $1) where instance_id is null',
    [seconds],
  );
  await db.pool.query("update wh_lanes set free_from = '-infinity', next_from = '-infinity'");
}
