// What a test of the SQL contract starts from: `it` gives it an empty database and three instances a, b, c whose ids
// sort in that order, so that their ranks are known.
import { test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.js';
import { Instance } from './work.js';

/** A database for the file, emptied for each test: a new one costs ten times as much, and its connections start cold. */
export const it = test.extend<{ $file: { file: TestDatabase }; $test: Fixtures }>({
  file: [
    // biome-ignore lint/correctness/noEmptyPattern: the first parameter of a fixture must be a pattern.
    async ({}, use) => {
      const file = await createTestDatabase();
      await use(file);
      await file.drop();
    },
    { scope: 'file' },
  ],
  db: async ({ file }, use) => {
    await empty(file);
    await use(file);
  },
  a: ({ db }, use) => use(instance(db, 'a')),
  b: ({ db }, use) => use(instance(db, 'b')),
  c: ({ db }, use) => use(instance(db, 'c')),
});

interface Fixtures {
  db: TestDatabase;
  a: Instance;
  b: Instance;
  c: Instance;
}

/** Transactions that a failed test has left open end first: they would hold up the next test. */
export async function empty(db: TestDatabase): Promise<void> {
  await db.pool.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%';
    ${dataTables.map((table) => `delete from ${table};`).join(' ')}
    delete from wh_lanes; insert into wh_lanes (lane) values ('outbox'), ('inbox');
    update wh_admission set until = '-infinity'`);
}

/** Every table that holds what calls have written. */
export const dataTables = [
  'wh_service_instances',
  'wh_outbox',
  'wh_inbox',
  'wh_message_deduplication',
  'wh_limits',
  'wh_unique_keys',
  'wh_active_streams',
  'wh_event_store',
  'wh_event_streams',
  'wh_snapshots',
  'wh_event_ticks',
  'wh_event_audit',
  'wh_receptor_processing',
  'wh_perspective_checkpoints',
  'wh_dead_letters',
  'wh_subscriptions',
  'wh_operations',
  'wh_pauses',
  'wh_order_violations',
  'wh_history',
];

/** An instance whose id ends in this hexadecimal digit; ids sort by it. */
export function instance(db: TestDatabase, digit: string): Instance {
  return new Instance(`0190aaaa-0000-7000-8000-00000000000${digit}`, db.pool);
}

/** A stream in a partition that belongs to this instance, which has called at least once. */
export async function streamOwnedBy(db: TestDatabase, owner: Instance): Promise<string> {
  const { rows } = await db.pool.query<{ stream_id: string }>(
    `select s.stream_id
     from (select gen_random_uuid() as stream_id from generate_series(1, 300)) s
     join wh_partition_assignments p on p.partition_number = wh_partition(s.stream_id, 10000)
     where p.instance_id = $1
     limit 1`,
    [owner.id],
  );
  if (rows[0] === undefined) throw new Error(`Instance ${owner.id} owns no partition.`);
  return rows[0].stream_id;
}

/** Everything that calls have written, to compare: a refused call has changed nothing. */
export async function contents(db: TestDatabase): Promise<Record<string, string>> {
  const { rows } = await db.pool.query(
    dataTables
      .map(
        (table) =>
          `select '${table}' as name, string_agg(t::text, E'\\n' order by t::text) as rows from ${table} t`,
      )
      .join(' union all '),
  );
  return Object.fromEntries(rows.map(({ name, rows: text }) => [name, text ?? '']));
}
