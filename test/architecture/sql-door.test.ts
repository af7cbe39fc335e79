// SQL text is written in few places, so that whoever changes a function in sql/ finds all its callers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** Folders that talk to PostgreSQL in its own language, and why. */
const folders: Readonly<Record<string, string>> = {
  coordinator: 'the door: one function for each function in sql/functions',
  database: 'connections, sessions and transactions of PostgreSQL, whatever is in it',
  transactions: 'the adapters say the first statement of a transaction in the way of each library',
  migrate: 'installs the schema',
  doctor: 'asks the catalogs of the server and the views for operators',
  dashboard: 'reads the views for operators',
  embedded: 'starts a server of its own',
  testing: 'looks into the tables for whoever tests, and breaks what is to be broken',
};
/** Files elsewhere, with the statements that they may hold, and why. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The end of the transaction that it is: there is nothing else to say.
  'work/transaction/open-transaction.ts': ['commit'],
  'work/transaction/pool-transaction.ts': ['rollback'],
  // The relay's metrics: a count of what waits, by a role that reads no payload.
  'relay/backlog.ts': ['select'],
  // The views for operators, which no function in sql/functions stands behind.
  'operate/operator.ts': ['select'],
  'operate/journal.ts': ['select'],
  'operate/waiting-streams.ts': ['select'],
  'operate/watch.ts': ['select'],
};

const statement =
  /['"`]\s*(?:(select|insert into|update|delete from|listen|unlisten|notify|with|lock|set|call)\s+(?=["'\w$(*])|(begin|commit|rollback)\b(?=['"`; ]))/g;

function statementsIn(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
  return [...code.matchAll(statement)].map(([, first, alone]) => first ?? alone ?? '');
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

describe('SQL is behind one door', () => {
  it('no folder but those that talk to PostgreSQL holds an SQL statement', () => {
    const found = files
      .filter((file) => !Object.hasOwn(folders, file.split('/')[0] ?? ''))
      .flatMap((file) =>
        statementsIn(readFileSync(join(src, file), 'utf8'))
          .filter((word) => !exceptions[file]?.includes(word))
          .map((word) => `${file}: ${word}`),
      );
    expect(found).toEqual([]);
  });

  it('every file that may hold a statement of SQL holds it', () => {
    const unused = Object.entries(exceptions).flatMap(([file, words]) => {
      const found = statementsIn(readFileSync(join(src, file), 'utf8'));
      return words.filter((word) => !found.includes(word)).map((word) => `${file}: ${word}`);
    });
    expect(unused).toEqual([]);
  });

  it('the search for SQL sees a statement in every kind of string, and none in a comment', () => {
    const text = [
      "const a = 'select 1';",
      'const b = `\n  insert into t values (1)`;',
      'client.query(`listen "work"`);',
      "client.query('rollback');",
      "/** `select 1` asks. */ // 'select 2'",
      "const option = 'listen';",
    ].join('\n');
    expect(statementsIn(text)).toEqual(['select', 'insert into', 'listen', 'rollback']);
  });
});
