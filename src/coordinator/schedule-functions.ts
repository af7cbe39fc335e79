// The functions of sql/functions/schedules. Times are milliseconds since 1970, by the clock of the database.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import type { NewOutboxMessage } from '../message.js';
import { oneRow } from './functions.js';
import { encodeNewMessages } from './insert-statement.js';

/** A schedule as it is stored. */
export interface ScheduleRow {
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly catch_up: string;
  readonly next_at: number | null;
  readonly last_at: number | null;
}

/** The instance that keeps schedules, and its plan. */
interface Keeper {
  readonly instanceId: string;
  readonly plan: string;
}

/** Looks at the schedules. `leads`: the plan of this instance is the one that counts. */
export async function lookAtSchedules(
  db: Queryable,
  schema: string,
  { instanceId, plan }: Keeper,
): Promise<{ readonly now: number; readonly leads: boolean; readonly schedules: readonly ScheduleRow[] }> {
  const text = `select ${schema}.wh_look_at_schedules($1::uuid, $2::text)::text as seen`;
  return JSON.parse((await oneRow<{ seen: string }>(db, text, [instanceId, plan])).seen);
}

/** A step of a schedule: from where, to where, and what is sent for the times between. */
export interface ScheduleStep {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: string;
  /** Undefined: it is made or defined anew. */
  readonly from: number | undefined;
  readonly next: number | undefined;
  readonly last: number | undefined;
  readonly messages: readonly NewOutboxMessage[];
}

/** Moves a schedule and sends its messages, or does nothing. Returns whether it moved. */
export async function moveSchedule(
  db: Queryable,
  schema: string,
  { instanceId, plan }: Keeper,
  step: ScheduleStep,
  isDirect: boolean,
): Promise<boolean> {
  const text = `
    select ${schema}.wh_move_schedule(
      $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text::double precision, $8::text::double precision,
      $9::text::double precision, $10::text::jsonb, ${isDirect})::text as moved`;
  const time = (ms: number | undefined) => (ms === undefined ? null : String(ms));
  const { name, cron, timeZone, catchUp, from, next, last, messages } = step;
  const what = [instanceId, plan, name, cron, timeZone, catchUp];
  const values = [...what, time(from), time(next), time(last), encodeNewMessages(messages)];
  return (await oneRow<{ moved: string }>(db, text, values)).moved === 'true';
}

/** Deletes the schedules that are not in the plan. */
export async function keepSchedules(
  db: Queryable,
  schema: string,
  { instanceId, plan }: Keeper,
  names: readonly string[],
): Promise<void> {
  const text = `
    select ${schema}.wh_keep_schedules($1::uuid, $2::text, array(select jsonb_array_elements_text($3::text::jsonb)))`;
  await db.query(text, [instanceId, plan, JSON.stringify(names)]);
}

/** Reads the schedules of the service. */
export async function listSchedules(db: Queryable, schema: string): Promise<readonly ScheduleRow[]> {
  const ms = (column: string) => `round(extract(epoch from ${column}) * 1000)`;
  const text = `
    select coalesce(json_agg(s), '[]')::text as schedules
    from (
      select name, cron, time_zone, catch_up, ${ms('next_at')} as next_at, ${ms('last_at')} as last_at
      from ${schema}.wh_list_schedules()
    ) s`;
  return JSON.parse((await oneRow<{ schedules: string }>(db, text)).schedules) as ScheduleRow[];
}
