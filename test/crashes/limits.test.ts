// Limits over all instances, with instances as processes: killed, stopped, and under a clock that steps.
import { describe, expect, it } from 'vitest';
import { Import, numbers } from '../runtime/limits/service.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { LimitsPlan } from './support/limits-program.js';
import { startProgram } from './support/process.js';

const program = new URL('support/limits-program.ts', import.meta.url);

async function begun(db: TestDatabase) {
  await db.pool.query(
    `create table spans (id bigint generated always as identity primary key, n int, tenant text, name text,
       began timestamptz, ended timestamptz)`,
  );
  const start = (name: string, plan: Omit<LimitsPlan, 'name' | 'connectionString'>) =>
    startProgram(program, { connectionString: db.connectionString, name, ...plan });
  const send = async (count: number, ms: number, tenants = 1) => {
    await using sender = service(db);
    await sender.send(
      numbers(count).map((n) => Import({ n, ms, tenant: `t${n % tenants}` })),
      { to: 'shop' },
    );
  };
  return { start, send };
}

/** What an instance ran when it was killed has ended then. */
const buried = (db: TestDatabase, name: string) =>
  db.pool.query('update spans set ended = clock_timestamp() where ended is null and name = $1', [name]);

/** The most that ran at once under a key. */
async function mostAtOnce(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    `select max(n)::int as most from (
       select (select count(*) from spans o where o.tenant = s.tenant and o.began <= s.began and coalesce(o.ended, 'infinity') > s.began) as n
       from spans s) o`,
  );
  return rows[0].most as number;
}

const allEnded = (db: TestDatabase, count: number) =>
  eventually(async () => {
    const { rows } = await db.pool.query(
      'select count(distinct n)::int as done from spans where ended is not null',
    );
    expect(rows).toEqual([{ done: count }]);
    expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]);
  });

describe('A limit over all instances', () => {
  it('a concurrency over all instances is never exceeded by three processes, and all is handled', async () => {
    await using db = await createTestDatabase();
    const { start, send } = await begun(db);
    await using _a = await start('a', { concurrency: 2 });
    await using _b = await start('b', { concurrency: 2 });
    await using _c = await start('c', { concurrency: 2 });
    await send(24, 50);
    await allEnded(db, 24);
    expect(await mostAtOnce(db)).toBe(2);
  });

  it('the places that a killed process had are free again when its leases have ended', async () => {
    await using db = await createTestDatabase();
    const { start, send } = await begun(db);
    await using killed = await start('killed', { concurrency: 2 });
    await send(6, 300);
    await eventually(async () =>
      expect((await db.pool.query('select 1 from spans where ended is null')).rows).toHaveLength(2),
    );
    await using _other = await start('other', { concurrency: 2 });
    killed.signal('SIGKILL');
    await killed.ended;
    await buried(db, 'killed');
    await allEnded(db, 6);
    expect(await mostAtOnce(db)).toBe(2);
  });

  it('the places of a process that stands still are free when its leases have ended', async () => {
    await using db = await createTestDatabase();
    const { start, send } = await begun(db);
    await using stalled = await start('stalled', { concurrency: 1 });
    await send(4, 200);
    await eventually(async () =>
      expect((await db.pool.query('select 1 from spans where ended is null')).rows).toHaveLength(1),
    );
    stalled.signal('SIGSTOP');
    await stalled.untilStopped();
    await using _other = await start('other', { concurrency: 1 });
    await eventually(async () => {
      const { rows } = await db.pool.query(`select 1 from spans where name = 'other' and ended is not null`);
      expect(rows).toHaveLength(4);
    });
    stalled.signal('SIGCONT');
    await allEnded(db, 4);
  });

  it('a concurrency by key over all instances holds for each key, and starves none', async () => {
    await using db = await createTestDatabase();
    const { start, send } = await begun(db);
    await using killed = await start('killed', { concurrency: 1, byTenant: true });
    await send(30, 100, 5);
    // Alone at first: the other one might be so quick that this one gets nothing.
    await eventually(async () =>
      expect((await db.pool.query(`select 1 from spans where name = 'killed'`)).rows).not.toEqual([]),
    );
    await using _a = await start('a', { concurrency: 1, byTenant: true });
    killed.signal('SIGKILL');
    await killed.ended;
    await buried(db, 'killed');
    await allEnded(db, 30);
    expect(await mostAtOnce(db)).toBe(1);
  });

  it('a rate over all instances is never exceeded by two processes', async () => {
    await using db = await createTestDatabase();
    const { start, send } = await begun(db);
    await db.pool.query(
      `create table entries (at timestamptz);
       create function note() returns trigger language plpgsql security definer as $$
         begin insert into public.entries values (new.entered_at[cardinality(new.entered_at)]); return null; end $$;
       create trigger note after update on wh_limits for each row execute function note()`,
    );
    const rate = { count: 4, perSeconds: 1 };
    await using _a = await start('a', { rate });
    await using _b = await start('b', { rate });
    await send(12, 1);
    await allEnded(db, 12);
    const { rows } = await db.pool.query(
      `select count(*)::int as entries,
         max((select count(*) from entries o where o.at > e.at - interval '1 second' and o.at <= e.at))::int as most
       from entries e`,
    );
    expect(rows).toEqual([{ entries: 12, most: 4 }]);
  });
});
