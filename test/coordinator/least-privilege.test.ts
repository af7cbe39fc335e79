import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MessageProcessingStatus, WorkCoordinator } from '../../src/coordination.js';
import { createWhizbang, decider, defineEvent, migrate, newMessageId, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inboxMessage, outboxMessage } from './new-messages.js';

/** The page's own SQL, under names that no other test uses. Roles belong to the whole server. */
const page = readFileSync(new URL('../../docs/operate/least-privilege.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
let db: TestDatabase;
let app: pg.Pool;
let names: (text: string) => string;

beforeAll(async () => {
  db = await createTestDatabase({ template: 'empty' });
  names = (text) => text.replaceAll(/whizbang_(owner|app|reader|operator)/g, `${db.name}_$1`);
  const [before, ...after] = blocks.map(names);
  await db.pool.query(before as string);
  const owner = await db.connect();
  await owner.query(names('set role whizbang_owner'));
  await migrate({ client: owner, schema: 'messaging' });
  for (const sql of after) await db.pool.query(sql);
  app = new pg.Pool({ connectionString: db.connectionString, options: names('-c role=whizbang_app') });
});

afterAll(async () => {
  await app.end();
  for (const role of ['owner', 'app', 'reader', 'operator'].map((kind) => names(`whizbang_${kind}`))) {
    await db.pool.query(`drop owned by ${role} cascade`);
    await db.pool.query(`drop role ${role}`);
  }
  await db.drop();
});

const rowsOf = async (sql: string) => (await db.pool.query(names(sql))).rows;

describe('A role with the documented grants', () => {
  it('a role with the documented grants can run a whole service', async () => {
    const warnings: object[] = [];
    const logger = {
      ...silentLogger,
      warn: (facts: object, message: string) => void warnings.push({ facts, message }),
    };
    const seen: string[] = [];
    const Placed = defineEvent('Placed', {
      schema: z.object({ orderId: z.string() }),
      stream: (o) => o.orderId,
    });
    const receptors = ['first', 'second'].map((name) =>
      receptor(Placed, { name }, (_, ctx) => void seen.push(`${name} ${ctx.attempt}`)),
    );
    const pool = new pg.Pool({
      connectionString: db.connectionString,
      options: names('-c role=whizbang_app'),
      max: 12,
    });
    const orders = createWhizbang({ service: 'orders', pool, schema: 'messaging', receptors, logger });
    await orders.start();
    const tx = await pool.connect();
    await tx.query('begin');
    await orders.publish(Placed({ orderId: 'a' }), { tx });
    await tx.query('commit');
    tx.release();
    await eventually(() => expect([seen, warnings]).toEqual([['first 1', 'second 1'], []]), 5000);
    await orders.publish(Placed({ orderId: 'a' }), { expectedVersion: 1 });
    await eventually(() => expect(seen).toHaveLength(4));
    const Orders = decider('Orders', { initial: 0, snapshotEvery: 1 }).on(Placed, (count) => count + 1);
    await orders.events.append(Placed({ orderId: 'b' }));
    const deciding = await pool.connect();
    await deciding.query('begin');
    await orders.events.decide(Orders, 'b', () => Placed({ orderId: 'b' }), { tx: deciding });
    await deciding.query('commit');
    deciding.release();
    expect(await orders.events.load(Orders, 'b')).toEqual({ state: 2, version: 2 });
    for await (const { version } of orders.events.stream('b', { after: 1 })) expect(version).toBe(2);
    for await (const event of orders.events.all()) expect(event.position).toMatch(/-/);
    await orders.stop();
    await pool.end();
    expect(warnings).toEqual([]);
    expect(await rowsOf('select 1 from messaging.wh_dead_letters')).toEqual([]);
  });

  it('a role with the documented grants gives up, looks at messages, acts on dead letters and forgets', async () => {
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (facts: object) => void warnings.push(facts) };
    const Failing = defineEvent('Failing', { schema: z.object({}) });
    const told: string[] = [];
    const onGivenUp = (_: unknown, __: unknown, { message }: Error) => void told.push(message);
    const failing = receptor(Failing, { retry: { attempts: 1 }, onGivenUp }, () => {
      throw new Error('never');
    });
    const pool = new pg.Pool({
      connectionString: db.connectionString,
      options: names('-c role=whizbang_app'),
      max: 12,
    });
    const retention = { deduplicationDays: 1, deadLetterDays: 1 };
    const settings = {
      service: 'orders',
      pool,
      schema: 'messaging',
      receptors: [failing],
      retention,
      logger,
    };
    const orders = createWhizbang(settings);
    await orders.start();
    const id = await orders.publish(Failing({}));
    await eventually(async () => expect((await orders.messages.get(id)).state).toBe('dead'));
    expect(told).toEqual(['never']);
    expect(await orders.retryNow(id)).toBe(false);
    expect(await orders.deadLetters.list({ type: 'Failing' })).toHaveLength(1);
    expect(await orders.deadLetters.retry(id)).toHaveLength(1);
    await eventually(async () => expect(told).toEqual(['never', 'never']));
    await eventually(async () => expect(await orders.deadLetters.discard(id)).toHaveLength(1));
    await orders.stop();
    await pool.end();
    expect(warnings).toEqual([]);
  });

  it('a service is warned at its start of services that its role may not deliver to', async () => {
    await db.pool.query('create schema foreign_service');
    await migrate({ pool: db.pool, schema: 'foreign_service' });
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (facts: object) => void warnings.push(JSON.stringify(facts)) };
    const pool = new pg.Pool({
      connectionString: db.connectionString,
      options: names('-c role=whizbang_app'),
      max: 12,
    });
    const orders = createWhizbang({ service: 'orders', pool, schema: 'messaging', logger });
    await orders.start();
    await orders.stop();
    await pool.end();
    expect(warnings).toEqual([expect.stringContaining('foreign_service')]);
    await db.pool.query('drop schema foreign_service cascade');
  });

  it('a role with the documented grants can store, claim, complete, fail and deregister', async () => {
    const it = new WorkCoordinator({ pool: app, schema: 'messaging', instance: { serviceName: 'orders' } });
    const [out, inn] = [outboxMessage({ streamId: newMessageId(), isEvent: true }), inboxMessage()];
    const batch = await it.processWorkBatch({ newOutboxMessages: [out], newInboxMessages: [inn] });
    expect([batch.outbox.length, batch.inbox.length]).toEqual([1, 1]);
    const plain = newMessageId();
    await app.query(
      `insert into messaging.wh_outbox
         (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, scheduled_for)
       values ($1, 'd', 't', '{}', '{}', '{}', null, false, null)`,
      [plain],
    );
    const next = await it.processWorkBatch({
      outboxCompletions: [{ messageId: out.messageId, status: MessageProcessingStatus.Published }],
      inboxFailures: [{ messageId: inn.messageId, completedStatus: 0, error: 'e', deadLetter: true }],
      takeoverSeconds: 0,
    });
    expect(next.leaseLost).toEqual([]);
    expect(next.outbox.map(({ messageId }) => messageId)).toEqual([plain]);
    expect(await it.deregister()).toBe(1);
  });

  it('a role with the documented grants may execute exactly the functions of the page', async () => {
    const executable = await rowsOf(
      `select proname::text as name from pg_proc
        where pronamespace = 'messaging'::regnamespace and has_function_privilege('whizbang_app', oid, 'execute')
        order by 1`,
    );
    expect(executable.map(({ name }) => name)).toEqual([
      'deregister_instance',
      'process_work_batch',
      'wh_append',
      'wh_archive_stream',
      'wh_audit_ticks',
      'wh_build_progress',
      'wh_builds',
      'wh_cancel_message',
      'wh_channel',
      'wh_claim_unique',
      'wh_count_interruption',
      'wh_delete_stream',
      'wh_diff_models',
      'wh_discard_dead_letters',
      'wh_drop_build',
      'wh_end_leases',
      'wh_enter_limit',
      'wh_event_progress',
      'wh_expire',
      'wh_fall_asleep',
      'wh_find_message',
      'wh_find_models',
      'wh_fire_timers',
      'wh_forget',
      'wh_gauges',
      'wh_give_up',
      'wh_hold_receiver',
      'wh_idle_streams',
      'wh_inline_models',
      'wh_join_service',
      'wh_keep_history',
      'wh_keep_schedules',
      'wh_last_failure',
      'wh_leave_receiver',
      'wh_list_dead_letters',
      'wh_list_schedules',
      'wh_list_timers',
      'wh_listens',
      'wh_load_model',
      'wh_load_stream',
      'wh_local_instances',
      'wh_lock_stream',
      'wh_look_at_schedules',
      'wh_move_bookmark',
      'wh_move_schedule',
      'wh_note_failure',
      'wh_open_keys',
      'wh_open_request',
      'wh_order_watch',
      'wh_outgoing',
      'wh_pause',
      'wh_perspective_held',
      'wh_perspective_status',
      'wh_read_ahead',
      'wh_read_events',
      'wh_read_keys',
      'wh_read_models',
      'wh_read_stream',
      'wh_rebuild_perspective',
      'wh_receive',
      'wh_receivers',
      'wh_receptor_records',
      'wh_register_perspective',
      'wh_release_instance',
      'wh_release_stream',
      'wh_remove_idle_limits',
      'wh_reset_perspective',
      'wh_resume',
      'wh_retry_dead_letters',
      'wh_retry_held',
      'wh_retry_now',
      'wh_save_snapshot',
      'wh_send',
      'wh_set_timers',
      'wh_skip_held',
      'wh_store_streams',
      'wh_subscribe',
      'wh_switch_perspective',
      'wh_take_answers',
      'wh_take_bookmark',
      'wh_take_streams',
      'wh_tick',
      'wh_transfer',
      'wh_transfer_each',
      'wh_wait_at_limit',
      'wh_waiting_limits',
      'wh_wake_up',
      'wh_want_build',
      'wh_write_inline',
    ]);
  });

  it('a role with the documented grants may insert into the outbox, and read what operators did', async () => {
    const rights = await rowsOf(
      `select c.relname::text as name, r.privilege
         from pg_class c,
              unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) r(privilege)
        where c.relnamespace = 'messaging'::regnamespace
          and c.relkind in ('r', 'v')
          and (has_table_privilege('whizbang_app', c.oid, r.privilege)
               or r.privilege in ('select', 'insert', 'update', 'references')
                  and has_any_column_privilege('whizbang_app', c.oid, r.privilege))
        order by 1`,
    );
    expect(rights).toEqual([
      { name: 'wh_operations', privilege: 'select' },
      { name: 'wh_outbox', privilege: 'insert' },
      { name: 'wh_pauses', privilege: 'select' },
    ]);
    const sequences = await rowsOf(
      `select relname from pg_class
        where relnamespace = 'messaging'::regnamespace
          and case when relkind = 'S' then has_sequence_privilege('whizbang_app', oid, 'usage, select, update') end`,
    );
    expect(sequences).toEqual([]);
  });

  it('a role with the documented grants cannot create anything in the schema', async () => {
    const rights = await rowsOf(`select has_schema_privilege('whizbang_app', 'messaging', 'create') as may`);
    expect(rights).toEqual([{ may: false }]);
  });

  it.each([
    'select * from messaging.wh_outbox',
    'select * from messaging.wh_event_store',
    'update messaging.wh_outbox set status = 4',
    'delete from messaging.wh_dead_letters',
    'truncate messaging.wh_message_deduplication',
    `insert into messaging.wh_inbox (message_id, handler_name, event_type, event_data)
     values (gen_random_uuid(), 'h', 't', '{}')`,
    `insert into messaging.wh_outbox (message_id, destination, event_type, event_data, partition_number)
     values (gen_random_uuid(), 'd', 't', '{}', 1)`,
    `insert into messaging.wh_outbox (message_id, destination, event_type, event_data, sequence_order)
     values (gen_random_uuid(), 'd', 't', '{}', -1)`,
    `insert into messaging.wh_outbox (message_id, destination, event_type, event_data)
     values (gen_random_uuid(), 'd', 't', '{}') returning message_id`,
    `select messaging.wh_partition(gen_random_uuid(), 10)`,
    `select messaging.wh_release_instances(array[gen_random_uuid()], now())`,
    `select nextval('messaging.wh_event_sequence')`,
    'select * from messaging.wh_migrations',
    'create table messaging.mine (a int)',
  ])('a role with the documented grants may not: %s', async (sql) => {
    await expect(app.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('the coordinator and the migrator report PERMISSION_DENIED to a role without the rights they need', async () => {
    const reader = new pg.Pool({
      connectionString: db.connectionString,
      options: names('-c role=whizbang_reader'),
    });
    try {
      const it = new WorkCoordinator({
        pool: reader,
        schema: 'messaging',
        instance: { serviceName: 'orders' },
      });
      const denied = { code: 'PERMISSION_DENIED', hint: expect.stringContaining('least-privilege') };
      await expect(it.processWorkBatch()).rejects.toMatchObject(denied);
      await expect(migrate({ pool: app, schema: 'messaging' })).rejects.toMatchObject(denied);
    } finally {
      await reader.end();
    }
  });
});

describe('A role that only reads', () => {
  it('a role that only reads sees every view but that of events, and not the outbox', async () => {
    const client = await db.connect();
    const { rows } = await client.query(
      `select table_name as name from information_schema.views where table_schema = 'messaging' and table_name <> 'wh_events'`,
    );
    await client.query(names('set role whizbang_reader'));
    expect(rows.length).toBeGreaterThan(10);
    for (const { name } of rows) await client.query(`select * from messaging.${name}`);
    await expect(client.query('select * from messaging.wh_events')).rejects.toMatchObject({ code: '42501' });
    await expect(client.query('select * from messaging.wh_outbox')).rejects.toMatchObject({ code: '42501' });
  });
});
