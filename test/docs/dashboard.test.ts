// The page about the page: its mounts compile, and a role with its grants can look, and act when it may.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { ask, open, questionsWith } from '../dashboard/support/pages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout } from './program.js';

const page = pageText('docs/operate/dashboard.md');
const grants = new Map(codeBlocks(page, 'sql').map((sql) => [/^-- (.*)\n/.exec(sql)?.[1], sql]));

describe('The role of the page', () => {
  let db: TestDatabase;
  let pool: pg.Pool;
  /** A role belongs to the server: each database of the tests has its own. */
  let named: (sql: string) => string;

  beforeAll(async () => {
    db = await createTestDatabase({ template: 'empty' });
    named = (sql) => sql.replaceAll('whizbang_page', `${db.name}_page`);
    await migrate({ connectionString: db.connectionString, schema: 'messaging' });
    await db.pool.query(named(grants.get('to look') ?? ''));
    pool = new pg.Pool({ connectionString: db.connectionString, options: named('-c role=whizbang_page') });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool.end();
    await db.pool.query(named('drop owned by whizbang_page; drop role whizbang_page'));
    await db.drop();
  });

  it('a role with the grants of the page can look at everything and read no table', async () => {
    const dashboard = open(db, { pool, schemas: ['messaging'] });
    const id = '0190aaaa-0000-7000-8000-000000000001';
    for (const question of questionsWith(id)) {
      const { status } = await ask(dashboard, question.replace('schema=whizbang', 'schema=messaging'));
      expect([question, status]).toEqual([question, question.includes('payload') ? 404 : 200]);
    }
    await expect(pool.query('select * from messaging.wh_inbox')).rejects.toMatchObject({ code: '42501' });
    await expect(pool.query('select * from messaging.wh_dead_letters')).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('a role of the page acts only with the grants to act, whatever the options say', async () => {
    const dashboard = open(db, { pool, schemas: ['messaging'], allowActions: true });
    const retry = () => ask(dashboard, 'api/retry-dead-letters', { body: { type: 'PlaceOrder' } });
    expect((await retry()).status).toBe(403);
    await db.pool.query(named(grants.get('to act') ?? ''));
    expect((await retry()).status).toBe(200);
  });
});

describe('The mounts of the page', () => {
  it('every mount of the page compiles as it is written', () => {
    const programs = Object.fromEntries(
      codeBlocks(page, 'ts').map((code, place) => [`dashboard-${place}`, code]),
    );
    expect(Object.keys(programs)).toHaveLength(4);
    expect(complaintsAbout(programs)).toEqual([]);
  });
});
