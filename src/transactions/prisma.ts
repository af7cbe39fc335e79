import type { Queryable } from '../database/index.js';
import { type Candidate, can } from './candidate.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown[]>;
}

/**
 * Recognizes a transaction of Prisma. It has `$transaction` too, for nesting; only the client itself can
 * connect.
 */
export function prisma(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, '$queryRawUnsafe')) return undefined;
  if (can(candidate, '$connect')) {
    throw notATransaction(
      'a Prisma client outside a transaction',
      'Pass the argument of the callback: prisma.$transaction(async (tx) => …).',
    );
  }
  const tx = candidate as unknown as PrismaTransaction;
  return {
    async query(text, values = []) {
      try {
        return rowsOf(await tx.$queryRawUnsafe(text, ...values));
      } catch (error) {
        // The transaction was closed, or rolled back by its own timeout.
        if ((error as { code?: unknown }).code === 'P2028') throw hasEnded('Prisma', error);
        throw error;
      }
    },
  };
}
