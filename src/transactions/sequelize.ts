import type { Queryable } from '../database/index.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { splitAtParameters } from './placeholders.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface SequelizeTransaction {
  readonly sequelize: { query(sql: string, options: object): Promise<unknown[]> };
  readonly finished?: string;
}

export function sequelize(candidate: Candidate): Queryable | undefined {
  if (can(candidate, 'query', 'define', 'authenticate')) {
    throw notATransaction(
      'a Sequelize instance',
      'Pass the argument of the callback: sequelize.transaction(async (tx) => …).',
    );
  }
  if (!can(candidate, 'commit', 'rollback') || !can(candidateOf(candidate.sequelize), 'query'))
    return undefined;
  const tx = candidate as unknown as SequelizeTransaction;
  return {
    async query(text, values = []) {
      if (tx.finished !== undefined) throw hasEnded('Sequelize');
      const options = { ...plainRows, bind: values, transaction: tx };
      return rowsOf(await tx.sequelize.query(withEscapedDollars(text), options));
    },
  };
}

/**
 * Query options for unchanged rows, whatever the user's defaults are. A search path in front would be a
 * second statement.
 */
const plainRows = { type: 'SELECT', raw: true, nest: false, plain: false, supportsSearchPath: false };

/**
 * Escapes dollars. Sequelize replaces `$name` everywhere, also in literals, and reads `$$` as one dollar, but
 * not behind a letter or digit.
 */
export function withEscapedDollars(text: string): string {
  const parts = splitAtParameters(text).map((part) =>
    'text' in part ? part.text.replace(/(?<!\w)\$/g, '$$$$') : `$${part.parameter}`,
  );
  return parts.join('');
}
