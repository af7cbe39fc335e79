import { type Instance, type TransferRow, transfer, transferEach } from '../../coordinator/index.js';
import {
  type ConnectionPool,
  codeOf,
  isOutage,
  type Queryable,
  retrying,
  withPooledClient,
} from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import type { MessageId } from '../../message.js';
import type { SendOutcome, TransportMessage } from '../transport.js';

/**
 * Time limit for one transfer, which takes milliseconds. A connection that died silently never returns an
 * answer.
 */
export const answerMs = 10_000;

/** Returns the outcome of each of these outbox messages, by its id. */
type Transfer = (messageIds: readonly MessageId[]) => Promise<ReadonlyMap<MessageId, SendOutcome>>;

export interface Transfers {
  /** Transfers all of them in one step, or none. Rejects when one of the receivers fails. */
  readonly together: Transfer;
  /** Transfers to each receiver by itself. Only the messages for which a receiver fails are delayed. */
  readonly apart: Transfer;
}

export function transfersOver(pool: ConnectionPool, schema: string, instance: Instance): Transfers {
  const outcomesOf = async (question: (db: Queryable) => Promise<readonly TransferRow[]>) => {
    const call = () => withPooledClient(pool, question, answerMs);
    const rows = await retrying(call, { maxRetries: 3, retryDelayMs: 25 });
    return new Map(rows.map((row) => [row.message_id, outcomeOf(row)]));
  };
  return {
    together: (messageIds) => outcomesOf((db) => transfer(db, schema, instance, messageIds)),
    apart: (messageIds) => outcomesOf((db) => transferEach(db, schema, instance, messageIds)),
  };
}

function outcomeOf({ outcome, error }: TransferRow): SendOutcome {
  if (outcome === 'lost') return { kind: 'settled', lost: true };
  if (outcome !== 'failed') return { kind: outcome };
  const { schema, sqlstate, message } = JSON.parse(error as string) as Record<string, string>;
  const facts =
    schema === undefined
      ? { message: message as string, details: { sqlState: sqlstate } }
      : {
          message: `The receiver in schema ${JSON.stringify(schema)} failed: ${message}`,
          hint: 'The other receivers have the message. This one gets it when it is tried again: correct the error in its schema.',
          details: { schema, sqlState: sqlstate },
        };
  return { kind: 'failed', error: new WhizbangError(codeOf(sqlstate as string), facts) };
}

/**
 * Transfers all messages with one statement. When the server refuses it, a second statement finds out which
 * receiver fails for which message. Rejects when the database cannot do its work at all.
 */
export async function transferAll(
  messages: readonly TransportMessage[],
  transfers: Transfers,
  signal: AbortSignal,
): Promise<readonly SendOutcome[]> {
  const ids = messages.map(({ messageId }) => messageId);
  const inTurn = async () => {
    try {
      return await transfers.together(ids);
    } catch (error) {
      if (isOutage(error)) throw error;
      signal.throwIfAborted();
      return transfers.apart(ids);
    }
  };
  try {
    const outcomes = await inTurn();
    return messages.map(({ messageId }) => outcomes.get(messageId.toLowerCase()) ?? { kind: 'held-back' });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isOutage(error)) throw unavailable(error);
    return allFailed(messages, error);
  }
}

/** Outcomes for a statement that was refused as a whole, so that nothing is known of the single message. */
function allFailed(messages: readonly TransportMessage[], error: unknown): readonly SendOutcome[] {
  const streams = new Set<string>();
  return messages.map(({ streamId }) => {
    if (streamId !== null && streams.has(streamId)) return { kind: 'held-back' };
    if (streamId !== null) streams.add(streamId);
    return { kind: 'failed', error };
  });
}

export function unavailable(error: unknown): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `The PostgreSQL transport cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'Messages stay in the outbox and are sent when the database answers again. See cause.',
    cause: error,
  });
}
