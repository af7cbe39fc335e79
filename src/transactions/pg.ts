import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

/**
 * Recognizes a client of node-postgres, and anything else that has `query(text, values)` and does not look
 * like a pool.
 */
export function pg(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'query')) return undefined;
  if (isPool(candidate)) {
    throw notATransaction(
      'a pool, which gives every statement another connection',
      "Pass the client that you have begun a transaction on: const client = await pool.connect(); await client.query('begin').",
    );
  }
  const client = candidate as unknown as Queryable;
  refuseIdle(client);
  return {
    async query(text, values) {
      if (await hadToWait(client)) refuseEnded(client, 'nothing was stored');
      refuseIdle(client);
      const result = await client.query(text, values);
      refuseEnded(client, 'it was stored outside the transaction and will be sent');
      return rowsOf(result);
    },
  };
}

/**
 * Whether it is a pool. A client has `connect` too, but no `totalCount`. An object that begins transactions
 * is not one itself.
 */
function isPool(candidate: Candidate): boolean {
  return (
    'totalCount' in candidate ||
    '$pool' in candidate ||
    can(candidate, 'transaction') ||
    can(candidate, 'begin')
  );
}

function refuseIdle(client: unknown): void {
  if (!isIdle(client)) return;
  throw notATransaction(
    'a client without an open transaction',
    "Call client.query('begin') first, and await the call that sends before you commit. To send without a transaction, leave tx out.",
  );
}

/**
 * Waits until no statement is under way, and returns whether there was one. A commit or rollback may be
 * queued behind a running statement, and our insert would then run after it, outside the transaction. So an
 * empty statement is queued first. When nothing is under way any more, the last transaction status of the
 * server is known, and a statement sent in the same turn is the next one that the server gets.
 */
async function hadToWait(client: Queryable): Promise<boolean> {
  let waited = false;
  while (transactionStatusOf(client) !== undefined && candidateOf(client)?.readyForQuery === false) {
    waited = true;
    await client.query('');
  }
  return waited;
}

/**
 * Throws when the transaction has ended: the caller did not await the sending before the commit or rollback.
 */
function refuseEnded(client: unknown, outcome: string): void {
  if (transactionStatusOf(client) !== 'I') return;
  throw new WhizbangError('UNKNOWN_TRANSACTION', {
    message: `The transaction ended before the message was stored: ${outcome}.`,
    hint: 'Await the call that sends the message before you commit or roll back.',
  });
}

/**
 * Whether the server has last reported that no transaction is open, and nothing is under way that could have
 * opened one. Older clients of node-postgres do not report the status. It is then unknown, which does not
 * count as idle.
 */
export function isIdle(client: unknown): boolean {
  return transactionStatusOf(client) === 'I' && candidateOf(client)?.readyForQuery === true;
}

/**
 * `I`: no transaction is open. `T`: one is open. `E`: one is open, and a statement of it has failed.
 * Undefined: not known.
 */
export function transactionStatusOf(client: unknown): unknown {
  const candidate = candidateOf(client);
  if (candidate === undefined || !can(candidate, 'getTransactionStatus')) return undefined;
  return (candidate as unknown as { getTransactionStatus(): unknown }).getTransactionStatus();
}
