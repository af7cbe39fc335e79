// Services that share a database, each in its schema, and a network to it that can fail.
// In: nothing. Out: subjects for the conformance suite, all over one database that is emptied for each.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import { WorkCoordinator } from '../../src/coordinator/index.js';
import { silentLogger } from '../../src/logger.js';
import { migrate } from '../../src/migrate/index.js';
import {
  postgresTransport,
  type Transport,
  type TransportHost,
  type TransportMessage,
} from '../../src/transports/index.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { dataTables } from '../support/work-fixtures.js';
import type { StoredMessage, SubjectInstance, TransportSubject } from './subject.js';
import { storedPart } from './world.js';

const services = ['shop', 'orders', 'billing'];

export async function createServices(): Promise<TestDatabase> {
  const db = await createTestDatabase({ template: 'empty' });
  for (const schema of services) await migrate({ pool: db.pool, schema });
  await refuseSome(db);
  return db;
}

/** The inbox of `orders` refuses messages of the type `Refused`. */
export async function refuseSome(db: TestDatabase): Promise<void> {
  await db.pool.query(`
    create function public.refuse() returns trigger language plpgsql as $$ begin
      raise exception 'This message is refused.';
    end $$;
    create trigger refuse before insert on orders.wh_inbox
    for each row when (new.event_type = 'Refused') execute function public.refuse()`);
}

interface PostgresSubject extends TransportSubject {
  readonly db: TestDatabase;
  readonly name: string;
  /** Like `join`, by way of another pool or as another instance. */
  joinWith(service: string, options?: { pool?: pg.Pool; instanceId?: string }): Promise<SubjectInstance>;
  /** Runs the work while no row can get into the inbox of `orders`, from when the transfer waits for that. */
  whileTransferWaits(send: () => Promise<unknown>, work: () => Promise<unknown>): Promise<void>;
}

export async function postgresSubject(db: TestDatabase): Promise<PostgresSubject> {
  await empty(db);
  const proxy = await startTcpProxy(db.connectionString);
  const network = new pg.Pool({ connectionString: proxy.connectionString });
  network.on('error', () => {});
  const subject: PostgresSubject = {
    db,
    name: 'postgres',
    traits: postgresTransport().traits,
    join: (service) => subject.joinWith(service),
    joinWith: (service, options) => joinAs(db, service, { pool: network, ...options }),
    goAway: async () => {
      proxy.hangUpOn = Number.POSITIVE_INFINITY;
      proxy.cut();
    },
    comeBack: async () => {
      proxy.hangUpOn = 0;
    },
    loseAnswerTo: async (send) => {
      const lost = () => expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await subject.whileTransferWaits(lost, async () => proxy.cut());
    },
    whileTransferWaits: (send, work) => whileTransferWaits(db, 'orders.wh_inbox', send, work),
    refused: (message) => ({ ...message, type: 'Refused' }),
    stored: (service) => storedIn(db, service),
    [Symbol.asyncDispose]: async () => {
      await network.end();
      await proxy[Symbol.asyncDispose]();
    },
  };
  return subject;
}

export async function joinAs(
  db: TestDatabase,
  service: string,
  options: { pool: pg.Pool; instanceId?: string; transport?: Transport; host?: Partial<TransportHost> },
): Promise<SubjectInstance> {
  const { pool, instanceId = randomUUID(), transport = postgresTransport() } = options;
  const instance = { instanceId, serviceName: service };
  const coordinator = new WorkCoordinator({ pool: db.pool, schema: service, instance });
  const host = {
    instance: coordinator.instance,
    pool,
    schema: service,
    logger: silentLogger,
    onState: () => {},
    ...options.host,
  };
  return {
    connection: await transport.connect(host),
    hold: async (messages) => {
      const newOutboxMessages = messages.map(toOutbox);
      await coordinator.processWorkBatch({ newOutboxMessages, maxInboxItems: 0, maxPerspectiveItems: 0 });
    },
  };
}

function toOutbox(message: TransportMessage) {
  const { type, payload, ...stored } = storedPart(message);
  return { ...stored, destination: message.address, eventType: type, eventData: payload };
}

export async function storedIn(db: TestDatabase, service: string): Promise<readonly StoredMessage[]> {
  const { rows } = await db.pool.query(
    `select message_id, stream_id, event_type, event_data, metadata, scope, handler_name
     from ${service}.wh_inbox order by sequence_order`,
  );
  return rows.map((row) => {
    expect(row.handler_name).toBe(row.event_type);
    const { message_id: messageId, stream_id: streamId, event_type: type, event_data: payload } = row;
    return { messageId, type, payload, metadata: row.metadata, scope: row.scope, streamId };
  });
}

/** Runs the work while nobody can write into this table, from when the transfer waits for that. */
export async function whileTransferWaits(
  db: TestDatabase,
  table: string,
  send: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  const transfers = async (state: string) => {
    const { rowCount } = await db.pool.query(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
         and query like '%.wh_transfer(%' and ${state}`,
    );
    return rowCount;
  };
  const locker = await db.connect();
  await locker.query(`begin; lock table ${table} in exclusive mode`);
  const sending = send();
  await eventually(async () => expect(await transfers(`wait_event_type = 'Lock'`)).toBe(1));
  await work();
  await locker.query('commit');
  await sending;
  await eventually(async () => expect(await transfers('true')).toBe(0));
}

/** Empties the schemas of these services. */
export async function empty(db: TestDatabase, ofServices = services): Promise<void> {
  for (const service of ofServices) {
    const tables = [...new Set([...dataTables, 'wh_subscriptions'])].map((table) => `${service}.${table}`);
    await db.pool.query(tables.map((table) => `delete from ${table}`).join(';'));
  }
}
