// The guide to your own transaction: the first block of the page and that of a library are a program, which runs as it
// is written and leaves one order and one message.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, pageText, sections } from '../docs/page.js';
import { bundledDoorUrls } from '../support/bundled-doors.js';
import { createTestDatabase } from '../support/database.js';
import { generatedFolder, generatePrismaClient } from './prisma-client.js';

const folder = generatedFolder('guide');
beforeAll(() => generatePrismaClient(folder, 'model Order {\n  id String @id\n  @@map("orders")\n}'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const withCode = sections(pageText('docs/guide/your-own-transaction.md')).flatMap(({ heading, body }) => {
  const code = codeBlocks(body, 'ts').join('\n');
  return code === '' ? [] : [{ heading, code }];
});
const [start, ...libraries] = withCode;

/** A service would go on; here it ends with its last line. */
async function run(program: string, name: string, connectionString: string): Promise<void> {
  const here = program.replaceAll(" from 'whizbang'", ` from '${bundledDoorUrls().whizbang}'`);
  const file = `${folder}/${name.replaceAll(/\W/g, '-')}.mts`;
  await writeFile(file, `${here}\nprocess.exit();\n`);
  const env = { ...process.env, DATABASE_URL: connectionString };
  await promisify(execFile)(process.execPath, ['--import', import.meta.resolve('tsx'), file], { env });
}

describe('The guide to your own transaction', () => {
  it('the guide to your own transaction has a program for each library', () => {
    expect(libraries.map(({ heading }) => heading)).toEqual([
      'pg',
      'postgres.js',
      'Drizzle',
      'Kysely',
      'Prisma',
      'Knex',
      'TypeORM',
      'MikroORM',
      'Sequelize',
    ]);
  });

  it.each(libraries)(
    'the guide to your own transaction has a program for $heading that runs',
    async ({ heading, code }) => {
      await using db = await createTestDatabase();
      await db.pool.query('create table orders (id text primary key)');
      await run(`${start?.code}\n${code}`, heading, db.connectionString);
      const { rows } = await db.pool.query('select o.id, m.event_type from orders o, wh_outbox m');
      expect(rows).toEqual([{ id: 'order-1', event_type: 'OrderPlaced' }]);
    },
  );
});
