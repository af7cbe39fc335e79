// The functions of sql/functions/explain that programs call: why a message, or a stream, is not running.
// In: something that runs a statement, the schema in quotes, an id. Out: the rows, as SQL names them.
// Called by the operating part. They lock nothing, and show no payload.
import type { Queryable } from '../database/index.js';

/** A row of explain: a reason, or, with `facts.can_take`, an instance. Times are ISO 8601. */
export interface ReasonRow {
  readonly step: number;
  readonly code: string;
  readonly is_blocking: boolean;
  readonly text: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly remedy: string | null;
}

/** Says why a message is not running. */
export function explainMessage(db: Queryable, schema: string, messageId: string): Promise<ReasonRow[]> {
  return reasonsOf(db, `${schema}.wh_explain_message($1::uuid)`, messageId);
}

/** Says why a stream does not go on. No row: nothing of it is unfinished. */
export function explainStream(db: Queryable, schema: string, streamId: string): Promise<ReasonRow[]> {
  return reasonsOf(db, `${schema}.wh_explain_stream($1::uuid)`, streamId);
}

async function reasonsOf(db: Queryable, call: string, id: string): Promise<ReasonRow[]> {
  const { rows } = await db.query(`select row_to_json(e)::text as reason from ${call} e order by e.step`, [
    id,
  ]);
  return (rows as { reason: string }[]).map(({ reason }) => JSON.parse(reason) as ReasonRow);
}
