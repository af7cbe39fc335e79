import type { Queryable } from '../database/index.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface QueryRunner {
  readonly isTransactionActive: boolean;
  query(text: string, values: unknown[], useStructuredResult: true): Promise<{ records: unknown[] }>;
}

/** Recognizes an EntityManager, a QueryRunner, or a repository of one of them. */
export function typeOrm(candidate: Candidate): Queryable | undefined {
  if (can(candidate, 'query', 'startTransaction') && 'isTransactionActive' in candidate) {
    return inRunner(candidate as unknown as QueryRunner);
  }
  if (can(candidate, 'query', 'createQueryRunner')) throw outside('a DataSource of TypeORM');
  if (can(candidate, 'query', 'getRepository', 'withRepository')) {
    const runner = candidateOf(candidate.queryRunner);
    if (runner === undefined) throw outside('an EntityManager of TypeORM outside a transaction');
    return inRunner(runner as unknown as QueryRunner);
  }
  const manager = candidateOf(candidate.manager);
  return can(candidate, 'query') && manager !== undefined ? typeOrm(manager) : undefined;
}

/** Asks for the structured result, because the plain one of an update is a pair. */
function inRunner(runner: QueryRunner): Queryable {
  const refuseOutside = () => {
    if (!runner.isTransactionActive) throw outside('a QueryRunner of TypeORM outside a transaction');
  };
  refuseOutside();
  return {
    async query(text, values = []) {
      refuseOutside();
      return rowsOf((await runner.query(text, values, true)).records);
    },
  };
}

function outside(got: string): Error {
  return notATransaction(
    got,
    'Pass the argument of the callback: dataSource.transaction(async (manager) => …), or a QueryRunner after startTransaction().',
  );
}
