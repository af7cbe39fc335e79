// The functions of sql/functions/limits. For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import type { MessageId } from '../message.js';
import { oneRow } from './functions.js';

/** A message that is to be let in at a limit over all instances. */
export interface Entering {
  readonly instanceId: string;
  readonly messageId: MessageId;
  readonly name: string;
  readonly key: string;
  /** Where it waits if it is not let in, for a limit with a key. */
  readonly waitsAt: string | undefined;
  readonly concurrency: number | undefined;
  readonly count: number | undefined;
  readonly perSeconds: number | undefined;
}

/** Lets a message in, or returns how many seconds it has to wait. Undefined: it is in. 0: nobody knows. */
export async function enterLimit(
  db: Queryable,
  schema: string,
  entering: Entering,
): Promise<number | undefined> {
  const { instanceId, messageId, name, key, waitsAt, concurrency, count, perSeconds } = entering;
  const text = `
    select ${schema}.wh_enter_limit(
      $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::int, $7::int, $8::float8)::text as seconds`;
  const values = [instanceId, messageId, name, key, waitsAt, concurrency, count, perSeconds];
  const { seconds } = await oneRow<{ seconds: string | null }>(
    db,
    text,
    values.map((value) => value ?? null),
  );
  return seconds === null ? undefined : Number(seconds);
}

/** Notes where a message waits that is about to be given back. */
export async function waitAtLimit(
  db: Queryable,
  schema: string,
  instanceId: string,
  messageId: MessageId,
  waitsAt: string,
): Promise<void> {
  await db.query(`select ${schema}.wh_wait_at_limit($1::uuid, $2::uuid, $3::text)`, [
    instanceId,
    messageId,
    waitsAt,
  ]);
}

/** Returns names of limits with a key at which streams wait for this handler, by name behind `after`. */
export async function waitingLimits(
  db: Queryable,
  schema: string,
  handler: string,
  after: string | undefined,
  most: number,
): Promise<readonly string[]> {
  const text = `select array_to_json(${schema}.wh_waiting_limits($1::text, $2::text, $3::int))::text as names`;
  const { names } = await oneRow<{ names: string }>(db, text, [handler, after ?? null, most]);
  return JSON.parse(names) as string[];
}

/** Removes idle rows of a limit among the next ones behind `after`. Returns where to go on, if there are more. */
export async function removeIdleLimits(
  db: Queryable,
  schema: string,
  name: string,
  after: string | undefined,
  most: number,
): Promise<string | undefined> {
  const text = `select ${schema}.wh_remove_idle_limits($1::text, $2::text, $3::int) as last`;
  return (await oneRow<{ last: string | null }>(db, text, [name, after ?? null, most])).last ?? undefined;
}
