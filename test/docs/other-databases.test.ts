// The pages on other databases and on cells: their programs compile, and their statements do what they say.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { shardOf } from '../../src/transports/index.js';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout } from './program.js';

const pages = ['postgres', 'cells'];
const textOf = (name: string) => pageText(`docs/transports/${name}.md`);
const programOf = (name: string) => codeBlocks(textOf(name), 'ts').join('\n');
const sqlOf = (name: string) => codeBlocks(textOf(name).replaceAll(/^ {3}/gm, ''), 'sql');

describe('The pages on other databases and cells', () => {
  it('the code of the pages on other databases and cells compiles', () => {
    const programs = Object.fromEntries(pages.map((name) => [name, programOf(name)]));
    expect(Object.values(programs).every((program) => program.includes('databases:'))).toBe(true);
    expect(complaintsAbout(programs)).toEqual([]);
  });

  it('the grants of the page on other databases are accepted as they are written', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    await migrate({ pool: db.pool, schema: 'ledger' });
    const client = await db.connect();
    const grants = sqlOf('postgres');
    expect(grants).toHaveLength(1);
    await client.query(`begin; create role shop_sender; ${grants[0]}; rollback`);
  });

  it('the queries of the page on cells count what is left and find the place of a stream', async () => {
    await using db = await createTestDatabase();
    const [drained, place] = sqlOf('cells') as [string, string];
    expect((await db.pool.query(drained)).rows).toEqual([{ inbox: '0', outbox: '0' }]);
    const ids = Array.from({ length: 50 }, () => randomUUID());
    await db.pool.query('create table orders (id uuid)');
    for (const id of ids) {
      await db.pool.query('truncate orders; ');
      await db.pool.query('insert into orders values ($1)', [id]);
      expect((await db.pool.query(place)).rows).toEqual([{ place: String(shardOf(id, 4)) }]);
    }
  });
});
