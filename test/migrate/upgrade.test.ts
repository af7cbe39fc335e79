import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  MessageProcessingStatus as Status,
  type WorkBatchRequest,
  WorkCoordinator,
} from '../../src/coordination.js';
import { newMessageId } from '../../src/index.js';
import { migrateTo } from '../../src/migrate/index.js';
import { makeRelease, type Release } from '../../src/migrate/release.js';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const old = makeRelease('0.0.1', embeddedSql);
/** What an upgrade may do: rewrite tables, and give a type and the function something more at their ends. */
const nextSql = {
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
      text: `drop view wh_stream_status, wh_blocked_streams, wh_retries, wh_messages;
             alter table wh_inbox add column added_later int default 7, alter column error type varchar(5000);
             alter table wh_outbox add column added_later int default 7, alter column error type varchar(5000);
             alter table wh_active_streams add column added_later int default 7;
             create index wh_outbox_added_later on wh_outbox (added_later);`,
    },
  ],
  functions: embeddedSql.functions.map((file) =>
    file.name === 'process_work_batch'
      ? {
          ...file,
          text: file.text.replace(/(p_facts jsonb default null)/, '$1,\n  p_added_later int default 7'),
        }
      : { ...file, text: `${file.text}\n-- touched` },
  ),
};
const next = makeRelease('99.0.0', nextSql);

/** The same, with a step of the call that reads what was added to its type. */
const nextThatReads = makeRelease('99.0.0', {
  ...nextSql,
  functions: nextSql.functions.map((file) =>
    /^wh_claim_(out|in)box$/.test(file.name)
      ? { ...file, text: file.text.replace(/^begin$/m, 'begin\n  perform c.added_later;') }
      : file,
  ),
});

/** What cannot be done to a type in place. */
const withAnotherCall = (version: string) =>
  makeRelease(version, {
    ...embeddedSql,
    types: embeddedSql.types.map((file) =>
      file.name === 'wh_call'
        ? { ...file, text: file.text.replace(' as (', ' as (\n  added_before int,') }
        : file,
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
      where relnamespace = 'whizbang'::regnamespace and relkind = 'r' and relname <> 'wh_migrations' order by 1`,
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
  it('an upgrade keeps rows in every state and the events, and work goes on', async () => {
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

  it('an upgrade to another signature leaves one function of the name, with its grants', async () => {
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

  it('an upgrade that makes types anew keeps the grants of everything', async () => {
    await migrateTo(old, { pool: db.pool });
    const grantee = `${db.name}_app`;
    await db.pool.query(
      `create role ${grantee};
       grant execute on function process_work_batch, wh_receive, wh_stamp_call to ${grantee};
       grant select on wh_partition_assignments to ${grantee};
       revoke usage on type wh_call from public;
       grant usage on type wh_call to ${grantee}`,
    );
    const rights = async () => {
      const { rows } = await db.pool.query(
        `select o.name, a.grantee::regrole::text, a.privilege_type
           from (select proname::text as name, coalesce(proacl, acldefault('f', proowner)) as acl
                   from pg_proc where pronamespace = 'whizbang'::regnamespace
                 union all
                 select typname::text, coalesce(typacl, acldefault('T', typowner))
                   from pg_type where typnamespace = 'whizbang'::regnamespace
                 union all
                 select relname::text, coalesce(relacl, acldefault('r', relowner))
                   from pg_class where relnamespace = 'whizbang'::regnamespace) o,
                aclexplode(o.acl) a
          order by 1, 2, 3`,
      );
      return rows as unknown[];
    };
    const oids = async () =>
      (
        await db.pool.query(
          `select 'wh_call'::regtype::oid as type, 'process_work_batch'::regproc::oid as function, 'wh_stamp_call'::regproc::oid as step`,
        )
      ).rows[0] as Record<string, number>;
    try {
      const [before, were] = [await rights(), await oids()];
      const report = await migrateTo(withAnotherCall('0.0.2'), { pool: db.pool });
      expect(report).toMatchObject({ applied: [], alreadyCurrent: false });
      expect(report.functions).toHaveLength(embeddedSql.functions.length);
      const are = await oids();
      expect(are.type).not.toBe(were.type);
      expect(are.step).not.toBe(were.step);
      expect(await rights()).toEqual(before);
      expect((await migrateTo(withAnotherCall('0.0.2'), { pool: db.pool })).alreadyCurrent).toBe(true);
      expect((await coordinator().processWorkBatch()).inbox).toEqual([]);
    } finally {
      await db.pool.query(`drop owned by ${grantee}; drop role ${grantee}`);
    }
  });

  it('an upgrade fails no call of the workers that run meanwhile', async () => {
    await migrateTo(old, { pool: db.pool });
    expect(await workDuring(next)).toBe(0);
  });

  it('an upgrade fails no call that waits for it and goes on in functions that read a new field', async () => {
    await migrateTo(old, { pool: db.pool });
    expect(await workDuring(nextThatReads)).toBe(0);
  });

  it('an upgrade that makes types anew fails no more calls than there are workers', async () => {
    await migrateTo(old, { pool: db.pool });
    expect(await workDuring(withAnotherCall('99.0.0'))).toBeLessThanOrEqual(workers);
  });
});

const workers = 3;

/** Migrates while instances store, complete and make calls that failed again. Returns how many failed; nothing may be lost. */
async function workDuring(release: Release): Promise<number> {
  const stopping = new AbortController();
  let stored = 0;
  let completed = 0;
  let failed = 0;
  const work = async (it: WorkCoordinator) => {
    const call = (request: WorkBatchRequest) =>
      it.processWorkBatch(request).catch(() => {
        failed += 1;
        return it.processWorkBatch(request);
      });
    let held: readonly { messageId: string }[] = [];
    while (!stopping.signal.aborted || held.length > 0) {
      const newOutboxMessages = stopping.signal.aborted
        ? []
        : [1, 2, 3].map(() => outboxMessage({ streamId: newMessageId() }));
      const outboxCompletions = held.map(({ messageId }) => ({ messageId, status: Status.Published }));
      const batch = await call({ newOutboxMessages, outboxCompletions });
      expect(batch.leaseLost).toEqual([]);
      stored += newOutboxMessages.length;
      completed += outboxCompletions.length;
      held = batch.outbox;
    }
  };
  const running = Promise.all(Array.from({ length: workers }, () => work(coordinator())));
  const atLeast = async (calls: number) => {
    while (stored < calls * 3) await setImmediate();
  };
  try {
    await Promise.race([atLeast(20), running]);
    await migrateTo(release, { pool: db.pool });
    await Promise.race([atLeast(stored / 3 + 20), running]);
  } finally {
    stopping.abort();
  }
  await running;
  expect(completed).toBe(stored);
  return failed;
}
