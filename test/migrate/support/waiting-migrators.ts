import { migrationLock } from '../../../src/migrate/run.js';
import type { TestDatabase } from '../../support/database.js';

interface Gate {
  /** Resolves when so many migrators stand before the closed gate. */
  waiting(count: number): Promise<void>;
  open(): Promise<void>;
}

/** Holds the migrator's own lock, so that a test can let any number of migrators go at the same moment. */
export async function closeGate(db: TestDatabase, schema = 'whizbang'): Promise<Gate> {
  const holder = await db.connect();
  await holder.query('select pg_advisory_lock($1, $2)', migrationLock(schema));
  const count = async () => {
    const { rows } = await holder.query(
      `select count(*)::int as n
         from pg_locks
        where locktype = 'advisory'
          and not granted
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return (rows[0] as { n: number }).n;
  };
  return {
    async waiting(wanted) {
      while ((await count()) < wanted) await holder.query('select pg_sleep(0.01)');
    },
    async open() {
      await holder.query('select pg_advisory_unlock($1, $2)', migrationLock(schema));
    },
  };
}
