// The doctor, and the rights of the roles that run services.
import { expect, it } from 'vitest';
import { examine } from '../../src/doctor/index.js';
import { migrate } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inbox, instance, message } from '../support/work.js';

async function withRole(db: TestDatabase, use: (role: string) => Promise<void>): Promise<void> {
  const role = `whizbang_app_${crypto.randomUUID().slice(0, 8)}`;
  await db.pool.query(`create role ${role}`);
  try {
    await use(role);
  } finally {
    await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
}

async function findings(db: TestDatabase, ...codes: readonly string[]) {
  const client = await db.connect();
  const found = await examine(client, 'whizbang');
  await client.end();
  return found.filter(({ code }) => codes.includes(code));
}

it('the doctor names a right that the role of a service lacks, with the statement that mends it', async () => {
  await using db = await createTestDatabase();
  await withRole(db, async (role) => {
    await migrate({ pool: db.pool, grantTo: role });
    expect(await findings(db, 'missing-rights')).toEqual([]);
    await db.pool.query(`revoke execute on function wh_gauges, wh_tick from ${role}`);
    const [found, ...others] = await findings(db, 'missing-rights');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      level: 'warning',
      text: `The role ${role} may call process_work_batch, and may not execute wh_gauges, wh_tick.`,
      facts: { role, functions: ['wh_gauges', 'wh_tick'] },
    });
    await db.pool.query(found?.remedy ?? '');
    expect(await findings(db, 'missing-rights')).toEqual([]);
  });
});

it('the doctor finds a history that nobody keeps, and the role that may not', async () => {
  await using db = await createTestDatabase();
  await withRole(db, async (role) => {
    await migrate({ pool: db.pool, grantTo: role });
    expect(await findings(db, 'history-not-kept')).toEqual([]);
    const a = instance(db, 'a');
    const sent = message();
    await a.call(inbox.stores(sent));
    await a.call(inbox.completes([sent]), { p_flags: 100 << 16 });
    const [found, ...others] = await findings(db, 'history-not-kept');
    expect(others).toEqual([]);
    expect(found?.text).toContain(`The role ${role} may not execute wh_keep_history`);
    await db.pool.query(found?.remedy ?? '');
    expect(await findings(db, 'history-not-kept')).toMatchObject([
      {
        remedy:
          'Start an instance with the option history. If it is off for good: truncate "whizbang".wh_history;',
      },
    ]);
    await db.pool.query(`set role ${role}; select whizbang.wh_keep_history(7); reset role`);
    expect(await findings(db, 'history-not-kept')).toEqual([]);
  });
});
