// Embeds sql/**/*.sql into src/migrate/sql.generated.ts, so that the package works when it is bundled. Words
// in braces in those files are replaced: see sql-words.mjs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { faultsOfFragments } from './sql-fragments.mjs';
import { lanes, withWords } from './sql-words.mjs';

const root = new URL('../', import.meta.url);
const out = new URL('src/migrate/sql.generated.ts', root);

/** Reads the files, sorted by name: the folder of a file has no meaning for the database. */
function read(folder) {
  const files = readdirSync(new URL(`sql/${folder}/`, root), { recursive: true })
    .filter((file) => file.endsWith('.sql'))
    .sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
  return files.flatMap((file) => {
    const text = readFileSync(new URL(`sql/${folder}/${file}`, root), 'utf8');
    const name = basename(file).replace(/(\.lane)?\.sql$/, '');
    if (!file.endsWith('.lane.sql')) return [{ name, text: withWords(text, {}) }];
    return lanes.map((words) => ({
      name: name.replace('_lane', `_${words.lane}`),
      text: withWords(text, words),
    }));
  });
}

/** Sorts the files: each comes after those that its text names, otherwise the order is kept. */
function inOrderOfUse(files) {
  const ordered = new Set();
  const take = (file, users) => {
    if (users.includes(file))
      throw new Error(`Files use each other: ${users.map(({ name }) => name).join(', ')}.`);
    const words = new Set(file.text.replace(/--.*/g, '').match(/\w+/g));
    for (const used of files) if (used !== file && words.has(used.name)) take(used, [...users, file]);
    ordered.add(file);
  };
  for (const file of files) take(file, []);
  return [...ordered];
}

/** The functions as they are written. */
function readTexts() {
  return readdirSync(new URL('sql/functions/', root), { recursive: true })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => ({ file, text: readFileSync(new URL(`sql/functions/${file}`, root), 'utf8') }));
}

const faults = faultsOfFragments(readTexts());
if (faults.length > 0) throw new Error(faults.join('\n'));
const embedded = {
  migrations: read('migrations'),
  types: inOrderOfUse(read('types')),
  functions: read('functions'),
  views: inOrderOfUse(read('views')),
};
const text =
  `// Made by scripts/embed-sql.mjs from sql/. Do not edit.\n` +
  `export interface SqlFile {\n  readonly name: string;\n  readonly text: string;\n}\n` +
  `export const embeddedSql: Readonly<Record<'migrations' | 'types' | 'functions' | 'views', readonly SqlFile[]>> = ${JSON.stringify(embedded, null, 2)};\n`;
// Written only when it differs: somebody may be reading it.
if (!existsSync(out) || readFileSync(out, 'utf8') !== text) writeFileSync(out, text);
