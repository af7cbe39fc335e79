import { cancelMessage } from '../coordinator/index.js';
import {
  type ConnectionPool,
  fromDatabaseError,
  quoteSchema,
  retrying,
  withPooledClient,
} from '../database/index.js';
import type { MessageId } from '../message.js';
import { invalidOption } from '../options.js';
import { asQueryable } from '../transactions/index.js';
import { isGivenUuid } from '../uuid.js';

const answerMs = 30_000;
// Not after a lost answer: the second one would say false of what the first has cancelled.
const retries = { maxRetries: 3, retryDelayMs: 25 };

/** Takes back a message that has not begun, in the transaction if one is given. Returns whether it did. */
export async function cancel(
  { pool, schema }: { readonly pool: ConnectionPool; readonly schema: string },
  messageId: MessageId,
  options: { readonly tx?: object },
): Promise<boolean> {
  if (!isGivenUuid(messageId)) {
    throw invalidOption('cancel', 'id', 'id is not a UUID', 'Give the id that send or publish has returned.');
  }
  const { tx } = options;
  if ('tx' in options && (tx === undefined || tx === null)) {
    const hint = 'Pass the transaction, or leave tx out to cancel outside of one. Nothing was done.';
    throw invalidOption('cancel', 'tx', `tx is ${String(tx)}`, hint);
  }
  const name = quoteSchema(schema);
  if (tx === undefined) {
    return retrying(
      () => withPooledClient(pool, (db) => cancelMessage(db, name, messageId), answerMs),
      retries,
    );
  }
  return cancelMessage(asQueryable(tx), name, messageId).catch((error: unknown) => {
    throw fromDatabaseError(error);
  });
}
