import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MessageProcessingStatus as Status, WorkCoordinator } from '../../src/coordination.js';
import { newMessageId } from '../../src/index.js';
import { migrateTo } from '../../src/migrate/index.js';
import { makeRelease } from '../../src/migrate/release.js';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const old = makeRelease('0.0.1', embeddedSql);
/** What an upgrade may do: rewrite tables, and give the function another parameter at its end. */
const next = makeRelease('99.0.0', {
  ...embeddedSql,
  types: embeddedSql.types.map((file) =>
    file.name === 'wh_call'
      ? { ...file, text: file.text.replace(/\n\);\s*$/, ',\n  added_later int\n);\n') }
      : file,
  ),
  migrations: [
    ...embeddedSql.migrations,
    {
      name: '9999_synthetic',
      text: `alter table wh_inbox add column added_later int default 7, alter column error type varchar(5000);
             alter table wh_outbox add column added_later int default 7, alter column error type varchar(5000);
             alter table wh_active_streams add column added_later int default 7;
             create index wh_outbox_added_later on wh_outbox (added_later);`,
    },
  ],
  functions: embeddedSql.functions.map((file) =>
    file.name === 'process_work_batch'
      ? {
          ...file,
          text: file.text.replace(
            /(p_inbox_handlers text\[\] default null)/,
            '$1,\n  p_added_later int default 7',
          ),
        }
      : { ...file, text: `${file.text}\n-- touched` },
  ),
});

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
});
afterEach(() => db.drop());

/** Without retries, so that a call that had to give way would be seen. */
const coordinator = () =>
  new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' }, maxRetries: 0 });
const ids = (items: readonly { messageId: string }[]) => items.map(({ messageId }) => messageId);

/** All rows of all tables of ours, without what the upgrade added. */
async function everyRow(): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await db.pool.query(
    `select relname::text as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'wh_migrations' order by 1`,
  );
  const all: Record<string, unknown[]> = {};
  for (const { name } of tables as { name: string }[]) {
    const { rows } = await db.pool.query(
      `select to_jsonb(t) - 'added_later' as row from ${name} t order by 1`,
    );
    all[name] = rows.map(({ row }) => row as unknown);
  }
  return all;
}

describe('An upgrade', () => {
  it('keeps rows that wait, are leased, scheduled or dead, and the events, and work goes on', async () => {
    await migrateTo(old, { pool: db.pool });
    const [holder, other] = [coordinator(), coordinator()];
    const streamId = newMessageId();
    const leased = outboxMessage({ streamId, isEvent: true, eventType: 'OrderPlacedEvent' });
    const behind = outboxMessage({ streamId });
    const [dead, scheduled, received] = [outboxMessage(), outboxMessage(), inboxMessage()];
    const expired = inboxMessage();
    await holder.processWorkBatch({
      newOutboxMessages: [leased, dead, scheduled],
      newInboxMessages: [received],
    });
    await other.processWorkBatch({ newOutboxMessages: [behind], newInboxMessages: [expired] });
    await db.pool.query(
      `update wh_active_streams set lease_expiry = clock_timestamp() where stream_id = $1`,
      [expired.messageId],
    );
    await holder.processWorkBatch({
      outboxFailures: [
        { messageId: dead.messageId, completedStatus: 0, error: 'gone', deadLetter: true },
        { messageId: scheduled.messageId, completedStatus: 0, error: 'later', retryAfterSeconds: 3600 },
      ],
      maxOutboxItems: 0,
      maxInboxItems: 0,
    });
    const plain = newMessageId();
    await db.pool.query(
      `insert into wh_outbox (message_id, destination, event_type, event_data) values ($1, 'd', 't', '{}')`,
      [plain],
    );

    const before = await everyRow();
    for (const table of [
      'wh_outbox',
      'wh_inbox',
      'wh_dead_letters',
      'wh_event_store',
      'wh_message_deduplication',
    ]) {
      expect(before[table], table).not.toEqual([]);
    }
    const report = await migrateTo(next, { pool: db.pool });
    expect(report).toMatchObject({ applied: ['9999_synthetic'], fromVersion: '0.0.1', toVersion: '99.0.0' });
    expect(await everyRow()).toEqual(before);

    const finished = await holder.processWorkBatch({
      outboxCompletions: [{ messageId: leased.messageId, status: Status.Published }],
      inboxCompletions: [{ messageId: received.messageId, status: Status.EventStored }],
      takeoverSeconds: 0,
    });
    expect(finished.leaseLost).toEqual([]);
    expect(ids(finished.outbox).sort()).toEqual([behind.messageId, plain].sort());
    expect(ids(finished.inbox)).toEqual([expired.messageId]);
    const again = outboxMessage({ streamId, isEvent: true, eventType: 'OrderPaidEvent', expectedVersion: 1 });
    await holder.processWorkBatch({ newOutboxMessages: [again], newInboxMessages: [received] });
    const { rows } = await db.pool.query('select count(*)::int as n from wh_inbox where message_id = $1', [
      received.messageId,
    ]);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('to another signature leaves exactly one function of the name, with its grants', async () => {
    const shorter = embeddedSql.functions.map((file) =>
      file.name === 'process_work_batch'
        ? {
            ...file,
            text: file.text
              .replace(/,\s*p_inbox_handlers text\[\] default null/, '')
              .replaceAll('p_inbox_handlers', 'null'),
          }
        : file,
    );
    await migrateTo(makeRelease('0.0.1', { ...embeddedSql, functions: shorter }), { pool: db.pool });
    const grantee = `${db.name}_app`;
    await db.pool.query(`create role ${grantee}; grant execute on function process_work_batch to ${grantee}`);
    try {
      await migrateTo(makeRelease('0.0.2', embeddedSql), { pool: db.pool });
      const { rows } = await db.pool.query(
        `select 'p_inbox_handlers' = any(proargnames) as is_new, has_function_privilege($1, oid, 'execute') as is_granted
           from pg_proc where proname = 'process_work_batch'`,
        [grantee],
      );
      expect(rows).toEqual([{ is_new: true, is_granted: true }]);
      expect((await coordinator().processWorkBatch()).inbox).toEqual([]);
    } finally {
      await db.pool.query(`drop owned by ${grantee}; drop role ${grantee}`);
    }
  });

  it.each(embeddedSql.migrations.slice(0, -1).map((file, i) => [file.name, i + 1] as const))(
    'from a database that had come as far as %s keeps what was sent, and hands it out',
    async (_, length) => {
      const migrations = embeddedSql.migrations.slice(0, length);
      // What a migration makes itself, because its triggers want it, its release had as a file too.
      const functions = embeddedSql.functions.filter(({ name }) =>
        migrations.some(({ text }) => text.includes(`create function ${name}(`)),
      );
      const prefix = { migrations, types: [], functions, views: [] };
      await migrateTo(makeRelease('0.0.1', prefix), { pool: db.pool });
      const messageId = newMessageId();
      await db.pool.query(
        `insert into wh_outbox (message_id, destination, event_type, event_data) values ($1, 'd', 't', '{"a":1}')`,
        [messageId],
      );
      await migrateTo(old, { pool: db.pool });
      const { outbox } = await coordinator().processWorkBatch({ takeoverSeconds: 0 });
      expect(outbox).toMatchObject([{ messageId, eventData: { a: 1 } }]);
    },
  );

  it('needs no worker to stop', async () => {
    await migrateTo(old, { pool: db.pool });
    const instances = [coordinator(), coordinator(), coordinator()];
    const stopping = new AbortController();
    let stored = 0;
    let completed = 0;
    const work = async (it: WorkCoordinator) => {
      let held: readonly { messageId: string }[] = [];
      while (!stopping.signal.aborted || held.length > 0) {
        const newOutboxMessages = stopping.signal.aborted
          ? []
          : [1, 2, 3].map(() => outboxMessage({ streamId: newMessageId() }));
        const outboxCompletions = held.map(({ messageId }) => ({ messageId, status: Status.Published }));
        const batch = await it.processWorkBatch({ newOutboxMessages, outboxCompletions });
        expect(batch.leaseLost).toEqual([]);
        stored += newOutboxMessages.length;
        completed += outboxCompletions.length;
        held = batch.outbox;
      }
    };
    const running = Promise.all(instances.map(work));
    const atLeast = async (calls: number) => {
      while (stored < calls * 3) await setImmediate();
    };
    try {
      await Promise.race([atLeast(20), running]);
      await migrateTo(next, { pool: db.pool });
      await Promise.race([atLeast(stored / 3 + 20), running]);
    } finally {
      stopping.abort();
    }
    await running;
    expect(completed).toBe(stored);
  });
});
