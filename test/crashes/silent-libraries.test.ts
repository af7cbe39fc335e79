import { describe, it } from 'vitest';
import type { WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { libraries } from './support/libraries.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

type Transaction = NonNullable<WhizbangOptions['transaction']>;

/** One place, so that who keeps it keeps all streams. One attempt: what uses one up without being at fault is a dead letter. */
const strict = { concurrency: 1, retry: { attempts: 1 }, leaseSeconds: 3, stopSeconds: 1 };

const begin = /^begin/i;
const { Kysely } = libraries;

const cases = Object.entries(libraries).flatMap(([name, open]) =>
  [/^insert into effects/, /process_work_batch/, /^commit/i].map(
    (statement) => [name, String(statement), open, statement] as const,
  ),
);

/** Here it takes longer: a pool may have its reasons to make somebody wait for his turn. */
const atItsBegin = ['Kysely', String(begin), Kysely as NonNullable<typeof Kysely>, begin] as const;

describe.concurrent('A receptor in the transaction of a library whose connection falls silent', () => {
  it.each([atItsBegin, ...cases])(
    'a receptor in a transaction of %s whose connection falls silent at %s is run again',
    async (_, __, open, statement) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      const library = await open(proxy.connectionString); // only the library goes through it
      const orders = await Orders.of(db.pool, 2);
      const shop = createShop({
        ...strict,
        connectionString: db.connectionString,
        transaction: library.transaction as unknown as Transaction,
      });
      try {
        await shop.start();
        const silence = proxy.silenceAt(statement, { loses: 'question', on: 'its connection' });
        await orders.place(3);
        await silence;
        await orders.expectFaultless();
      } finally {
        await shop.stop();
        await library.close();
      }
    },
  );
});
