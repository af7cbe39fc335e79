// Why a message, or a stream, is not running: one answer for the command line and for programs.
// In: the id of a message, or of a stream. Out: reasons, the most decisive first, and what each living instance could do.
// Called by the command line. It locks nothing, and shows no payload.
import { explainMessage, explainStream, type ReasonRow } from '../coordinator/index.js';
import { type Queryable, quoteSchema } from '../database/index.js';
import { streamIdOf } from '../messages/index.js';
import { isUuid } from '../uuid.js';

/** One reason. `isBlocking`: it keeps the message from running now. */
interface Reason {
  readonly step: number;
  readonly code: string;
  readonly isBlocking: boolean;
  readonly text: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly remedy: string | null;
}

/** Whether a call that this instance made now would take the message; if not, why not. */
interface InstanceVerdict {
  readonly instanceId: string;
  readonly canTake: boolean;
  readonly code: string;
}

/** What explain says of an id at one moment. */
export interface Explanation {
  readonly id: string;
  readonly lane: 'outbox' | 'inbox' | null;
  readonly at: string;
  readonly reasons: readonly Reason[];
  readonly instances: readonly InstanceVerdict[];
}

/** Explains a message, or else the stream of this id, or of this text. */
export async function explain(db: Queryable, schema: string, id: string): Promise<Explanation> {
  const quoted = quoteSchema(schema);
  const uuid = isUuid(id) ? id : streamIdOf(id);
  const message = isUuid(id) ? await explainMessage(db, quoted, uuid) : [];
  if (message.length > 0 && message[0]?.code !== 'not-here') return explanationOf(uuid, message);
  const stream = await explainStream(db, quoted, uuid);
  if (stream.length > 0) return explanationOf(uuid, stream);
  return explanationOf(uuid, message.length > 0 ? message : await explainMessage(db, quoted, uuid));
}

function explanationOf(id: string, rows: readonly ReasonRow[]): Explanation {
  const { lane = null, at } = (rows[0]?.facts ?? {}) as { lane?: Explanation['lane']; at?: string };
  const isInstance = ({ facts }: ReasonRow) => Object.hasOwn(facts, 'can_take');
  return {
    id,
    lane,
    at: isoTime(at ?? null) ?? new Date().toISOString(),
    reasons: rows
      .filter((row) => !isInstance(row))
      .map(({ step, code, is_blocking: isBlocking, text, since, until, facts, remedy }) => ({
        step,
        code,
        isBlocking,
        text,
        since: isoTime(since),
        until: isoTime(until),
        facts,
        remedy,
      })),
    instances: rows.filter(isInstance).map(({ code, facts }) => ({
      instanceId: facts.instance_id as string,
      canTake: facts.can_take as boolean,
      code,
    })),
  };
}

/** Infinity is no time. */
function isoTime(text: string | null): string | null {
  if (text === null) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
