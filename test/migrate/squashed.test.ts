import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MessageProcessingStatus as Status, WorkCoordinator } from '../../src/coordination.js';
import type { ConnectionPool } from '../../src/database/index.js';
import { newMessageId } from '../../src/index.js';
import { migrate } from '../../src/migrate/index.js';
import { currentRelease } from '../../src/migrate/release.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { catalogOf } from './support/catalog.js';
import { installVersionBefore, versionBefore } from './support/version-before.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
});
afterEach(() => db.drop());

/** Calls as the version before did: it did not know the last four parameters. */
const poolBefore: ConnectionPool = {
  async connect() {
    const client = await db.pool.connect();
    const query = (text: string, values?: unknown[]) =>
      client.query(text.replace(/(, null){4}\)$/, ')'), values);
    return { query, release: () => client.release() };
  },
};
const coordinator = () =>
  new WorkCoordinator({ pool: poolBefore, instance: { serviceName: 'orders' }, maxRetries: 0 });
const ids = (items: readonly { messageId: string }[]) => items.map(({ messageId }) => messageId);
const ledger = async (pool: pg.Pool) =>
  (await pool.query('select name, kind, hash from wh_migrations order by name collate "C"'))
    .rows as unknown[];

async function everyRow(): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await db.pool.query(
    `select relname::text as name from pg_class
      where relnamespace = 'whizbang'::regnamespace and relkind = 'r' and relname <> 'wh_migrations' order by 1`,
  );
  const all: Record<string, unknown[]> = {};
  for (const { name } of tables as { name: string }[]) {
    const { rows } = await db.pool.query(
      `select to_jsonb(t) - 'transaction_id' as row from ${name} t order by 1`,
    );
    all[name] = rows.map(({ row }) => row as unknown);
  }
  return all;
}

/** What 0008 was; the version in the fixture had only seven. */
const continuing = {
  name: '0008_continuing',
  text: `alter type wh_call add attribute continues boolean;
         create type wh_seen as (call wh_call, outbox wh_arrived, inbox wh_arrived);
         create type wh_leased as (outbox uuid[], inbox uuid[]);`,
};
const migrations = [...versionBefore.migrations, continuing];
/** What a migration makes itself, because its triggers want it, its version had as a file too. */
const stubs = versionBefore.functions.filter(({ name }) => name === 'wh_wake_sleepers');

describe('A database of the version before', () => {
  it('a database of the version before keeps every row, and work goes on', async () => {
    await installVersionBefore(db.pool);
    const [holder, other] = [coordinator(), coordinator()];
    const streamId = newMessageId();
    const leased = outboxMessage({ streamId, isEvent: true, eventType: 'OrderPlacedEvent' });
    const behind = outboxMessage({ streamId });
    const [dead, scheduled, received] = [outboxMessage(), outboxMessage(), inboxMessage()];
    await holder.processWorkBatch({
      newOutboxMessages: [leased, dead, scheduled],
      newInboxMessages: [received],
    });
    await other.processWorkBatch({ newOutboxMessages: [behind] });
    await holder.processWorkBatch({
      outboxFailures: [
        { messageId: dead.messageId, completedStatus: 0, error: 'gone', deadLetter: true },
        { messageId: scheduled.messageId, completedStatus: 0, error: 'later', retryAfterSeconds: 3600 },
      ],
      maxOutboxItems: 0,
      maxInboxItems: 0,
    });
    const before = await everyRow();
    for (const table of ['wh_outbox', 'wh_inbox', 'wh_dead_letters', 'wh_event_store']) {
      expect(before[table], table).not.toEqual([]);
    }

    const report = await migrate({ pool: db.pool });
    const later = currentRelease()
      .files.filter(({ kind }) => kind === 'migration')
      .slice(1)
      .map(({ name }) => name);
    expect(report).toMatchObject({ applied: later, alreadyCurrent: false });
    expect(await everyRow()).toMatchObject(before);
    expect((await migrate({ pool: db.pool })).alreadyCurrent).toBe(true);

    const finished = await holder.processWorkBatch({
      outboxCompletions: [{ messageId: leased.messageId, status: Status.Published }],
      inboxCompletions: [{ messageId: received.messageId, status: Status.EventStored }],
      takeoverSeconds: 0,
    });
    expect(finished.leaseLost).toEqual([]);
    expect(ids(finished.outbox)).toEqual([behind.messageId]);
  });

  it('a database of the version before keeps the grants of its functions', async () => {
    await installVersionBefore(db.pool);
    const grantee = `${db.name}_app`;
    await db.pool.query(`create role ${grantee}; grant execute on function process_work_batch to ${grantee}`);
    try {
      await migrate({ pool: db.pool });
      const { rows } = await db.pool.query(
        `select has_function_privilege($1, oid, 'execute') as may from pg_proc where proname = 'process_work_batch'`,
        [grantee],
      );
      expect(rows).toEqual([{ may: true }]);
    } finally {
      await db.pool.query(`drop owned by ${grantee}; drop role ${grantee}`);
    }
  });

  it('a database of the version before becomes like one that was made today', async () => {
    const fresh = await createTestDatabase({ template: 'empty' });
    try {
      await installVersionBefore(db.pool);
      await migrate({ pool: db.pool });
      await migrate({ pool: fresh.pool });
      const [upgraded, made] = [await catalogOf(db.pool), await catalogOf(fresh.pool)];
      for (const [what, rows] of Object.entries(made)) expect(rows.length, what).toBeGreaterThan(0);
      expect(upgraded).toEqual(made);
      expect(await ledger(db.pool)).toEqual(await ledger(fresh.pool));
    } finally {
      await fresh.drop();
    }
  });
});

describe('A database of an older migration', () => {
  it.each(migrations.slice(4).map(({ name }, i) => [name, i + 5] as const))(
    'a database that had come as far as %s keeps what was sent, and hands it out',
    async (_, length) => {
      await installVersionBefore(db.pool, {
        migrations: migrations.slice(0, length),
        functions: stubs,
        views: [],
      });
      const messageId = newMessageId();
      await db.pool.query(
        `insert into wh_outbox (message_id, destination, event_type, event_data) values ($1, 'd', 't', '{"a":1}')`,
        [messageId],
      );
      await migrate({ pool: db.pool });
      const { outbox } = await coordinator().processWorkBatch({ takeoverSeconds: 0 });
      expect(outbox).toMatchObject([{ messageId, eventData: { a: 1 } }]);
      const names = currentRelease().files.map(({ name, kind, hash }) => ({ name, kind, hash }));
      expect(await ledger(db.pool)).toEqual(names.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },
  );

  it.each(migrations.slice(0, 4).map(({ name }, i) => [name, i + 1] as const))(
    'a database that had come as far as %s is refused, with what to do first',
    async (_, length) => {
      await installVersionBefore(db.pool, {
        migrations: migrations.slice(0, length),
        functions: length < 3 ? [] : stubs,
        views: [],
      });
      const before = await ledger(db.pool);
      await expect(migrate({ pool: db.pool })).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        message: expect.stringContaining('0005_outage_and_silence'),
        hint: expect.stringContaining('0008_continuing'),
        details: { missing: migrations.slice(length, 5).map(({ name }) => name) },
      });
      expect(await ledger(db.pool)).toEqual(before);
    },
  );
});
