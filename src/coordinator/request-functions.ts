// The functions of sql/functions/requests: who waits for the answer to a command.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import type { InstanceId, MessageId } from '../message.js';

/** The type of an answer on its way. It is no work: PostgreSQL puts it where the asking instance finds it. */
export const answerType = '(answer)';

/** What comes back: a result, or why there is none. */
export interface AnswerContent {
  /** The id of the command. */
  readonly requestId: MessageId;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string | undefined };
}

/** Notes that an instance waits for the answer to a command that it is about to send. */
export async function openRequest(
  db: Queryable,
  schema: string,
  requestId: MessageId,
  instanceId: InstanceId,
): Promise<void> {
  const text = `select ${schema}.wh_open_request($1::text::uuid, $2::text::uuid)::text as opened`;
  await db.query(text, [requestId, instanceId]);
}

/** Takes the answers that have come. `givesUp`: the others are not waited for any longer. */
export async function takeAnswers(
  db: Queryable,
  schema: string,
  requestIds: readonly MessageId[],
  givesUp: boolean,
): Promise<readonly AnswerContent[]> {
  const text = `
    select coalesce(json_agg(t.answer) filter (where t.answer is not null), '[]')::text as answers
    from ${schema}.wh_take_answers($1::text::uuid[], ${givesUp}) t`;
  const { rows } = await db.query(text, [`{${requestIds.join()}}`]);
  return JSON.parse((rows[0] as { answers: string }).answers) as AnswerContent[];
}
