import postgres from 'postgres';
import { describe } from 'vitest';
import { describeTransactions } from './conformance.js';
import type { UsersOwn } from './subject.js';

describe.each([
  ['postgres.js', {}],
  ['postgres.js that renames columns', { transform: postgres.camel }],
])('%s', (name, options) => {
  describeTransactions({
    name,
    seesItsEnd: false,
    async connect(connectionString) {
      const sql = postgres(connectionString, { max: 5, ...options });
      return {
        transaction: <T>(
          work: (tx: unknown, own: UsersOwn) => Promise<T>,
          { serializable }: { serializable?: boolean } = {},
        ) =>
          sql.begin(serializable ? 'isolation level serializable' : '', (tx) =>
            work(tx, ownOf(tx)),
          ) as Promise<T>,
        notTransactions: { sql },
        close: () => sql.end(),
      };
    },
  });
});

function ownOf(tx: postgres.TransactionSql): UsersOwn {
  return {
    insertOrder: (id) => tx`insert into orders values (${id}, 'by postgres.js')`.execute(),
    nested: <T>(work: (inner: unknown) => Promise<T>) => tx.savepoint((inner) => work(inner)) as Promise<T>,
  };
}
