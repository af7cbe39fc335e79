// What instances on one machine know of one another: sql/functions/call/wh_local_instances.sql and wh_end_leases.sql.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import { oneRow } from './functions.js';

/** Another instance of the service, on the same machine. */
export interface LocalInstance {
  readonly instanceId: string;
  readonly processId: number;
}

export async function localInstances(
  db: Queryable,
  schema: string,
  instanceId: string,
  machine: string,
): Promise<readonly LocalInstance[]> {
  const text = `select instance_id::text as "instanceId", process_id as "processId"
    from ${schema}.wh_local_instances($1::uuid, $2::text)`;
  return (await db.query(text, [instanceId, machine])).rows as LocalInstance[];
}

/** Ends the leases of an instance whose process is gone. Returns how many streams it held; undefined: nothing was done. */
export async function endLeases(
  db: Queryable,
  schema: string,
  instanceId: string,
  machine: string,
): Promise<number | undefined> {
  const text = `select ${schema}.wh_end_leases($1::uuid, $2::text)::text as ended`;
  const { ended } = await oneRow<{ ended: string | null }>(db, text, [instanceId, machine]);
  return ended === null ? undefined : Number(ended);
}
