// What the tests of ticks share: appending as the append functions do it, and a judge of the order of all events.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { auditTicks, readEvents, type TickPosition, tick } from '../../src/coordinator/event-functions.js';
import type { TestDatabase } from './database.js';

type Queryable = Pick<pg.Pool | pg.Client, 'query'>;

/** Ticks, and returns the newest tick as a number. */
export async function makeTick(connection: Queryable): Promise<number | null> {
  return tick(connection, 'whizbang');
}

/** Audits, and returns the numbers that were found late. */
export async function audit(connection: Queryable): Promise<number[]> {
  return (await auditTicks(connection, 'whizbang')).map(Number);
}

/**
 * Appends an event to each of these streams, in their order, and returns their numbers. As every append does, it takes
 * the number while it has the version row of the stream locked.
 */
export async function append(
  connection: Queryable,
  streamIds: readonly string[] = [randomUUID()],
  type = 'OrderPlaced',
): Promise<number[]> {
  const numbers: number[] = [];
  for (const streamId of streamIds) {
    const { rows } = await connection.query<{ number: string }>(
      `with stream as (
         insert into wh_event_streams as s (stream_id, version) values ($1, 1)
         on conflict (stream_id) do update set version = s.version + 1
         returning version)
       insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
       select gen_random_uuid(), $1, version, $2, 'Order', '{}' from stream
       returning sequence_number as number`,
      [streamId, type],
    );
    numbers.push(Number(rows[0]?.number));
  }
  return numbers;
}

/** Appends so many events at once, each to a stream of its own. */
export async function appendMany(connection: Queryable, count: number, type = 'OrderPlaced'): Promise<void> {
  await connection.query(
    `insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
     select gen_random_uuid(), gen_random_uuid(), 1, $2, 'Order', '{}' from generate_series(1, $1::int)`,
    [count, type],
  );
}

/** The numbers of every tick, in order. */
export async function ticks(db: TestDatabase): Promise<{ tick: number; numbers: number[] }[]> {
  const { rows } = await db.pool.query(
    `select t.tick::int, array(select generate_series(lower(r), upper(r) - 1)::int from unnest(t.covers) r) as numbers
     from wh_event_ticks t order by t.tick`,
  );
  return rows as { tick: number; numbers: number[] }[];
}

/** The numbers of the newest tick. */
export async function newest(db: TestDatabase): Promise<number[] | undefined> {
  return (await ticks(db)).at(-1)?.numbers;
}

interface Verdict {
  readonly events: number;
  /** Events that are in no tick, or in several. */
  readonly missing: number;
  readonly twice: number;
  /** Numbers in a tick that no event has. */
  readonly strange: number;
  /** Versions of a stream that come after a later one in (tick, sequence_number). */
  readonly inversions: number;
}

/** Compares every committed event with the ticks. */
export async function judge(db: TestDatabase): Promise<Verdict> {
  const { rows } = await db.pool.query<Verdict>(
    `with place as materialized (
       select t.tick, n.number from wh_event_ticks t
       cross join unnest(t.covers) r
       cross join generate_series(lower(r), upper(r) - 1) n(number)
     ), counted as materialized (
       select e.event_id, count(p.number) as places from wh_event_store e
       left join place p on p.number = e.sequence_number group by e.event_id
     ), ordered as (
       select e.version, lag(e.version) over (partition by e.stream_id order by p.tick, p.number) as before
       from wh_event_store e join place p on p.number = e.sequence_number
     )
     select (select count(*)::int from wh_event_store) as events,
            (select count(*)::int from counted where places = 0) as missing,
            (select count(*)::int from counted where places > 1) as twice,
            (select count(*)::int from place p where not exists (select from wh_event_store e where e.sequence_number = p.number)) as strange,
            (select count(*)::int from ordered where before > version) as inversions`,
  );
  return rows[0] as Verdict;
}

/** The numbers of all events in (tick, sequence_number). */
export async function wholeOrder(db: TestDatabase): Promise<number[]> {
  return (await ticks(db)).flatMap(({ numbers }) => numbers);
}

/** A verdict without a fault. */
export const faultless = { missing: 0, twice: 0, strange: 0, inversions: 0 };

/** Reads on from a position, as a follower does, until there is nothing behind it. */
export class Reader {
  readonly numbers: number[] = [];
  reads = 0;

  constructor(
    private readonly connection: Queryable,
    public position: TickPosition = { tick: 0, sequenceNumber: 0 },
    private readonly types?: readonly string[],
    private readonly limit = 100,
  ) {}

  /** One read. Returns whether there was anything behind the position. */
  async read(): Promise<boolean> {
    const rows = await readEvents(this.connection, 'whizbang', this.position, this.types, this.limit);
    this.reads += 1;
    const last = rows.at(-1);
    if (last === undefined) return false;
    this.numbers.push(...rows.filter((row) => row.event_id !== null).map((row) => row.sequence_number));
    this.position = { tick: last.tick, sequenceNumber: last.sequence_number };
    return true;
  }

  async readAll(): Promise<number[]> {
    while (await this.read());
    return this.numbers;
  }
}
