// What the tests of one library share: its database, emptied before each test, the library connected to it, and
// what the database holds in the end. Called once in a describe; its fields are there while the tests run.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { WorkCoordinator } from '../../src/coordinator/index.js';
import type { Queryable } from '../../src/database/index.js';
import { createTestDatabase } from '../support/database.js';
import { dataTables } from '../support/work-fixtures.js';
import type { OutboxRow } from './sending.js';
import type { Connected, Subject } from './subject.js';

export class World {
  db!: Queryable;
  library!: Connected;

  constructor(subject: Subject) {
    let database: Database | undefined;
    beforeAll(async () => {
      database = await (subject.openDatabase?.() ?? openOnServer());
      this.db = database;
      await this.db.query('create table orders (id uuid primary key, note text not null)');
      this.library = await subject.connect(database.connectionString ?? '');
    });
    afterAll(async () => {
      await this.library?.close();
      await database?.[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      for (const table of [...dataTables, 'orders']) await this.db.query(`delete from ${table}`);
    });
  }

  /** Another instance each time. */
  coordinator(): WorkCoordinator {
    return new WorkCoordinator({ client: this.db, instance: { serviceName: 'orders' } });
  }

  async outbox(): Promise<OutboxRow[]> {
    const { rows } = await this.db.query(
      'select message_id, event_data from wh_outbox order by sequence_order',
    );
    return rows as OutboxRow[];
  }

  async outboxIds(): Promise<string[]> {
    return (await this.outbox()).map(({ message_id }) => message_id);
  }

  async countOf(table: 'orders' | 'wh_inbox'): Promise<number> {
    return (await this.db.query(`select from ${table}`)).rows.length;
  }
}

type Database = Queryable & AsyncDisposable & { readonly connectionString?: string };

async function openOnServer(): Promise<Database> {
  const database = await createTestDatabase();
  return {
    query: (text, values) => database.pool.query(text, values),
    connectionString: database.connectionString,
    [Symbol.asyncDispose]: () => database.drop(),
  };
}
