// A small typed caller of process_work_batch: in: only the parameters a test cares about; out: rows as SQL names them.
// `lanes` say what differs between outbox and inbox, `message`, `stream` and `streams` make messages.
// The tests of test/sql import this one file: it also gives on the fixtures and the helpers that move time.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import type { TestDatabase } from './database.js';

export { WorkBatchFlags as Flags } from '../../src/message.js';
export * from './passing-time.js';
export * from './work-fixtures.js';
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
  only_with?: string;
  priority?: number;
}

interface Failure {
  completed_status?: number;
  error?: string | null;
  retry_after_seconds?: number;
  dead_letter?: boolean;
  attempt?: number;
  counted?: boolean;
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

  /** Parts of one call, as the lanes make them; lists under the same name are joined. */
  async call(...parts: Parameters[]): Promise<WorkRow[]> {
    const given: Parameters = {
      p_instance_id: this.id,
      p_service_name: 'shop',
      p_host_name: 'host-1',
      p_process_id: 1,
      ...this.settings,
      ...parts.reduce(join, {}),
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

/** Two parts may speak of the same parameter, completions and releases for one. */
function join(all: Parameters, part: Parameters): Parameters {
  const joined = { ...all, ...part };
  for (const name of Object.keys(part) as (keyof Parameters)[]) {
    const [one, other] = [all[name], part[name]];
    if (Array.isArray(one) && Array.isArray(other)) joined[name] = [...one, ...other];
  }
  return joined;
}

/** Arrays and objects are JSON, but for the ids to renew, the handlers and the perspectives, which are arrays of PostgreSQL's. */
function encode(name: string, value: unknown): unknown {
  const isArray = name.startsWith('p_renew') || ['p_inbox_handlers', 'p_perspectives'].includes(name);
  return typeof value === 'object' && !isArray && value !== null ? JSON.stringify(value) : value;
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

  /** One plain insert of a message into each of these streams, in their order. */
  async insertInto(db: TestDatabase, streamIds: readonly string[], isEvent = false): Promise<void> {
    await db.pool.query(
      `insert into ${this.table} (message_id, ${this.target}, event_type, event_data, stream_id, is_event)
       select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', s, $2 from unnest($1::uuid[]) with ordinality u(s, n) order by n`,
      [streamIds, isEvent],
    );
  }

  /** The same, so many into one stream. */
  async insertCrowd(db: TestDatabase, streamId: string, count: number, isEvent = false): Promise<void> {
    await this.insertInto(db, new Array<string>(count).fill(streamId), isEvent);
  }

  /** The stored rows, in order; of these messages, or all. */
  async rows(db: TestDatabase, items?: Identified[]): Promise<(Record<string, unknown> & Identified)[]> {
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
