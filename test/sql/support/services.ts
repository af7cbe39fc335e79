// Services that share a database, each in its schema: in: names of schemas; out: a database that has them migrated, and per
// service an instance that stores, holds and transfers. Used by the tests of the PostgreSQL transport.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { migrate } from '../../../src/migrate/index.js';
import type { TestDatabase } from '../../support/database.js';
import { dataTables, ids, type NewMessage } from '../../support/work.js';

type Queryable = Pick<pg.Pool | pg.Client, 'query'>;

interface Received {
  message_id: string;
  handler_name: string;
  event_data: unknown;
  metadata: unknown;
  scope: unknown;
  stream_id: string | null;
  partition_number: number | null;
  is_event: boolean;
}

export class Service {
  readonly instanceId = randomUUID();
  constructor(
    readonly schema: string,
    private readonly connection: Queryable,
  ) {}

  over(connection: Queryable): Service {
    return Object.assign(new Service(this.schema, connection), { instanceId: this.instanceId });
  }

  async subscribe(...addresses: string[]): Promise<void> {
    await this.connection.query(`select ${this.schema}.wh_subscribe($1, $2)`, [this.instanceId, addresses]);
  }

  /** Stores messages to this address and holds them. */
  async holds(destination: string, ...messages: NewMessage[]): Promise<NewMessage[]> {
    const sent = messages.map((each) => ({ destination, ...each }));
    await this.connection.query(
      `select from ${this.schema}.process_work_batch($1, 's', 'h', 1, p_new_outbox_messages => $2)`,
      [this.instanceId, JSON.stringify(sent)],
    );
    return messages;
  }

  /** The ids that were settled, and those that were not. */
  async transfer(...messages: { message_id: string }[]): Promise<{ settled: string[]; lost: string[] }> {
    const { rows } = await this.connection.query<{ message_id: string; settled: boolean }>(
      `select * from ${this.schema}.wh_transfer($1, 's', 'h', 1, $2)`,
      [this.instanceId, ids(messages)],
    );
    const which = (settled: boolean) => ids(rows.filter((row) => row.settled === settled));
    return { settled: which(true), lost: which(false) };
  }

  /** What became of each, in the order in which they were given. */
  async transferEach(...messages: { message_id: string }[]): Promise<{ outcome: string; error: unknown }[]> {
    const { rows } = await this.connection.query<{ outcome: string; error: string | null }>(
      `select * from ${this.schema}.wh_transfer_each($1, 's', 'h', 1, $2)`,
      [this.instanceId, ids(messages)],
    );
    return rows.map(({ outcome, error }) => ({ outcome, error: error && JSON.parse(error) }));
  }

  async inbox(): Promise<Received[]> {
    const { rows } = await this.connection.query<Received>(
      `select * from ${this.schema}.wh_inbox order by sequence_order`,
    );
    return rows;
  }

  async outbox(): Promise<string[]> {
    const { rows } = await this.connection.query<{ message_id: string }>(
      `select message_id from ${this.schema}.wh_outbox order by sequence_order`,
    );
    return ids(rows);
  }

  /** Its leases end, and another instance takes what it held. */
  async losesEverything(): Promise<void> {
    for (const table of ['wh_active_streams', 'wh_outbox']) {
      await this.connection.query(
        `update ${this.schema}.${table} set lease_expiry = now() where instance_id = $1`,
        [this.instanceId],
      );
    }
    await this.connection.query(`select from ${this.schema}.process_work_batch($1, 's', 'h', 2)`, [
      randomUUID(),
    ]);
  }
}

export async function migrateSchemas(db: TestDatabase, schemas: readonly string[]): Promise<void> {
  for (const schema of schemas) await migrate({ pool: db.pool, schema });
}

export async function emptySchemas(db: TestDatabase, schemas: readonly string[]): Promise<void> {
  const tables = schemas.flatMap((schema) => dataTables.map((table) => `${schema}.${table}`));
  await db.pool.query(`truncate ${tables.join(', ')}`);
}
