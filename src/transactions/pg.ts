import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

/** A client of node-postgres, and whatever else has `query(text, values)` and does not look like a pool. */
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
      refuseEnded(client, 'it was stored on its own, and will leave');
      return rowsOf(result);
    },
  };
}

/** A client connects too, but counts nobody; what begins transactions for others is not one itself. */
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
    "Call client.query('begin') before, and await the sending before you commit. To send without a transaction, leave tx out.",
  );
}

/**
 * While a statement is under way, a commit or rollback may be queued, and ours would run on its own behind it. So an empty
 * one waits for its turn first; when nothing is under way any more the server's last word is known, and what is sent in
 * the same turn is what it gets next.
 */
async function hadToWait(client: Queryable): Promise<boolean> {
  let waited = false;
  while (transactionStatusOf(client) !== undefined && candidateOf(client)?.readyForQuery === false) {
    waited = true;
    await client.query('');
  }
  return waited;
}

/** Nobody waited for the sending: the commit or rollback was said before. */
function refuseEnded(client: unknown, outcome: string): void {
  if (transactionStatusOf(client) !== 'I') return;
  throw new WhizbangError('UNKNOWN_TRANSACTION', {
    message: `The transaction was ended before the message was stored: ${outcome}.`,
    hint: 'Await the sending before you commit or roll back.',
  });
}

/**
 * The server's last word was that no transaction is open, and nothing is under way that could have opened one.
 * Older clients of node-postgres cannot tell: then it is not known, which is not idle.
 */
export function isIdle(client: unknown): boolean {
  return transactionStatusOf(client) === 'I' && candidateOf(client)?.readyForQuery === true;
}

/** `I`: none is open. `T`: one is. `E`: one is, and a statement of it has failed. Undefined: it is not known. */
export function transactionStatusOf(client: unknown): unknown {
  const candidate = candidateOf(client);
  if (candidate === undefined || !can(candidate, 'getTransactionStatus')) return undefined;
  return (candidate as unknown as { getTransactionStatus(): unknown }).getTransactionStatus();
}
