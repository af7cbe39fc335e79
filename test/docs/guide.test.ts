// The pages of the guide whose code, from top to bottom, is one program: it compiles, runs as it is written and prints
// what the page says. Pages that are several programs, or SQL, have tests of their own.
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout, outputOf } from './program.js';

const pages = [
  'getting-started',
  'messages',
  'sending',
  'delays-and-schedules',
  'receptors',
  'middleware',
  'limits',
  'batches',
  'running-a-service',
  'retries-and-dead-letters',
  'sagas',
  'requests',
  'event-store',
  'perspectives',
  'erasing',
];
const textOf = (name: string) => pageText(`docs/guide/${name}.md`);
/** What a page shows after this mark are programs of their own. */
const mark = '<!-- from here on, each block is a program of its own -->';
const programOf = (name: string) => codeBlocks(textOf(name).split(mark)[0] ?? '', 'ts').join('\n');

describe.each(pages)('The page %s', (name) => {
  it('the code of a page of the guide runs and prints what the page says', async () => {
    await using db = await createTestDatabase();
    const printed = await outputOf(programOf(name), {
      env: { DATABASE_URL: db.connectionString, PORT: '0' },
    });
    expect(printed).toBe(codeBlocks(textOf(name), '').join(''));
  });
});

describe('The pages of the guide', () => {
  it('the code of the guide compiles without an annotation that it does not show', () => {
    expect(complaintsAbout(Object.fromEntries(pages.map((name) => [name, programOf(name)])))).toEqual([]);
  });

  it('the check of the guide finds a payload of the wrong type', () => {
    const wrong = programOf('sending').replace('cents: 350', "cents: 'three fifty'");
    expect(complaintsAbout({ sending: wrong })).not.toEqual([]);
  });
});
