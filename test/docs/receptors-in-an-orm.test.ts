// The guide to receptors, its last section: the first block and that of a library are a program. A message arrives, the
// receptor handles it in a transaction of the library, and the row is there.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledDoorUrls } from '../support/bundled-doors.js';
import { createTestDatabase } from '../support/database.js';
import { generatedFolder, generatePrismaClient } from '../transactions/prisma-client.js';
import { codeBlocks, pageText, sections } from './page.js';
import { complaintsAbout } from './program.js';

const folder = generatedFolder('receptors');
beforeAll(() => generatePrismaClient(folder, 'model Order {\n  id String @id\n  @@map("orders")\n}'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const [, ownPrograms = ''] = pageText('docs/guide/receptors.md').split('<!-- from here on');
const [start, ...libraries] = sections(ownPrograms).map(({ heading, body }) => ({
  heading,
  code: codeBlocks(body, 'ts').join('\n'),
}));
const programs = libraries.map(({ heading, code }) => ({ heading, program: `${start?.code}\n${code}` }));

/** What a service does after the page has made it. */
const afterwards = `
shop.on('failure', ({ error }) => console.error(error));
await shop.start();
await shop.publish(OrderPlaced({ orderId: 'order-1' }));
const watcher = new (await import('pg')).default.Client({ connectionString });
await watcher.connect();
for (;;) {
  const { rows } = await watcher.query('select 1 from orders');
  if (rows.length > 0) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await shop.stop();
process.exit();
`;

describe('The guide to receptors', () => {
  it('the guide to receptors has a program for each ORM', () => {
    expect(programs.map(({ heading }) => heading)).toEqual(['Drizzle', 'Kysely', 'Prisma']);
  });

  it.each(programs)(
    'the guide to receptors shows how to handle in a transaction of $heading',
    async ({ heading, program }) => {
      await using db = await createTestDatabase();
      await db.pool.query('create table orders (id text primary key)');
      const here = program.replaceAll(" from 'whizbang'", ` from '${bundledDoorUrls().whizbang}'`);
      const file = `${folder}/${heading}.mts`;
      await writeFile(file, here + afterwards);
      const env = { ...process.env, DATABASE_URL: db.connectionString };
      await promisify(execFile)(process.execPath, ['--import', import.meta.resolve('tsx'), file], { env });
      const { rows } = await db.pool.query('select id from orders');
      expect(rows).toEqual([{ id: 'order-1' }]);
      expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]);
    },
  );

  it('the programs for an ORM compile without an annotation that they do not show', () => {
    const checked = programs.map(({ heading, program }) => [
      heading,
      program.replaceAll("'./generated/", `'${folder}/generated/`).replaceAll("client.js'", "client.ts'"),
    ]);
    const complaints = complaintsAbout(Object.fromEntries(checked));
    expect(complaints.filter((text) => !text.includes("can only end with a '.ts' extension"))).toEqual([]);
  });
});
