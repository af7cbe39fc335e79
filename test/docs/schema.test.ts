import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { codeWords, pageText, sections } from './page.js';

const page = pageText('docs/internals/schema.md');

/** `table.column` for every table in a heading and every column in the first cells below; a cell may name its table itself. */
const documented = sections(`${page}\n${pageText('docs/operate/views.md')}`).flatMap(({ heading, body }) => {
  const tables = codeWords(heading);
  const cells = [...body.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) => codeWords(cell));
  return cells.flatMap((name) => (name.includes('.') ? name : tables.map((table) => `${table}.${name}`)));
});

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const names = async (sql: string) =>
  (await db.pool.query<{ name: string }>(sql)).rows.map(({ name }) => name);

describe('The page of the schema', () => {
  it('the pages of the schema and of its views list exactly the columns of the database', async () => {
    const columns = await names(
      `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'whizbang'
         and not (select relispartition from pg_class where oid = format('whizbang.%I', table_name)::regclass)`,
    );
    expect(columns.length).toBeGreaterThan(100);
    expect([...documented].sort()).toEqual(columns.sort());
  });

  it('the page of the schema lists exactly the indexes that are not primary keys', async () => {
    const indexes = await names(
      `select indexrelid::regclass::text as name from pg_index
       where not indisprimary and indrelid::regclass::text like 'wh\\_%'
         and not (select relispartition from pg_class where oid = indexrelid)`,
    );
    const paragraphs = page.split('\n\n').filter((text) => /Index(es)?: /.test(text));
    const listed = codeWords(paragraphs.join('\n')).filter((word) => word.startsWith('wh_'));
    expect(listed.sort()).toEqual(indexes.sort());
  });
});
