// Embeds sql/**/*.sql into src/migrate/sql.generated.ts, so that the package works when it is bundled.
// A file named `x.lane.sql` is written once and installed twice, for the outbox and for the inbox:
// `{lane}` stands for the lane, `{target}` and `{stored_at}` for the columns whose names differ.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const out = new URL('src/migrate/sql.generated.ts', root);

const lanes = [
  { lane: 'outbox', target: 'destination', stored_at: 'created_at' },
  { lane: 'inbox', target: 'handler_name', stored_at: 'received_at' },
];

function read(folder) {
  const files = readdirSync(new URL(`sql/${folder}/`, root))
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return files.flatMap((file) => {
    const text = readFileSync(new URL(`sql/${folder}/${file}`, root), 'utf8');
    const name = file.replace(/(\.lane)?\.sql$/, '');
    if (!file.endsWith('.lane.sql')) return [{ name, text }];
    return lanes.map((words) => ({
      name: name.replace('lane', words.lane),
      text: text.replace(/\{(lane|target|stored_at)\}/g, (_, word) => words[word]),
    }));
  });
}

const embedded = { migrations: read('migrations'), functions: read('functions'), views: read('views') };
mkdirSync(new URL('./', out), { recursive: true });
writeFileSync(
  out,
  `// Made by scripts/embed-sql.mjs from sql/. Do not edit.\n` +
    `export interface SqlFile {\n  readonly name: string;\n  readonly text: string;\n}\n` +
    `export const embeddedSql: Readonly<Record<'migrations' | 'functions' | 'views', readonly SqlFile[]>> = ${JSON.stringify(embedded, null, 2)};\n`,
);
