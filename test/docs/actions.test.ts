// The page on acting: its program and its commands run as they are written.
import { describe, expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.js';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout, outputOf } from './program.js';

const page = pageText('docs/operate/actions.md');
const program = `
import { createWhizbang, defineCommand } from 'whizbang';
import { z } from 'zod';
const ChargeCard = defineCommand('ChargeCard', { schema: z.object({ cents: z.number() }) });
const shop = createWhizbang({ service: 'shop', connectionString: process.env.DATABASE_URL ?? '' });
const id = await shop.send(ChargeCard({ cents: 350 }), { to: 'bank' });
${codeBlocks(page, 'ts').join('\n')}
for (const { who, operation } of await shop.operations.list()) console.log(who.split(' ')[0], operation);
await shop.stop();
`;

describe('The page on acting', () => {
  it('the program of the page on acting compiles, runs, and is written down', async () => {
    await using db = await createTestDatabase();
    expect(complaintsAbout({ actions: program })).toEqual([]);
    const printed = await outputOf(program, { env: { DATABASE_URL: db.connectionString } });
    expect(printed).toBe('anna give-up\nanna resume\nanna pause\n');
  });

  it('the commands of the page on acting are commands that there are', async () => {
    await using db = await createTestDatabase();
    const lines = codeBlocks(page, 'sh').join('').trim().split('\n');
    for (const line of lines) {
      const { stderr, code } = await runCli(line.split(' ').slice(1), { DATABASE_URL: db.connectionString });
      expect({ line, stderr, isKnown: [0, 2].includes(code) }).toEqual({ line, stderr: '', isKnown: true });
    }
  });
});
