import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MessageProcessingStatus, WorkCoordinator } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText, root } from './page.js';

const readme = pageText('README.md');
const [program = ''] = codeBlocks(readme, 'js');
const [plainInsert = ''] = codeBlocks(readme, 'sql');

/** What the packages of the program are here. */
const specifiers: Record<string, string> = {
  whizbang: new URL('src/index.ts', root).href,
  'whizbang/embedded': new URL('src/embedded/index.ts', root).href,
  pg: import.meta.resolve('pg'),
};

const here = (code: string) =>
  code.replaceAll(/ from '([^']+)'/g, (_, name: string) => ` from '${specifiers[name] ?? name}'`);

describe('The README', () => {
  it('has a program that runs as it stands and prints what the README says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whizbang-readme-'));
    try {
      await writeFile(join(folder, 'first.mjs'), here(program));
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', import.meta.resolve('tsx'), 'first.mjs'],
        { cwd: folder },
      );
      expect(stdout.length).toBeGreaterThan(0);
      expect(codeBlocks(readme, '')).toContain(stdout);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('has a plain insert that sends when its transaction commits', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table orders (id uuid primary key, total int)');
    await db.pool.query(plainInsert);
    const orders = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' } });
    const { outbox } = await orders.processWorkBatch();
    expect(outbox).toMatchObject([{ eventType: 'OrderPlaced', eventData: { total: 42 } }]);
    const [{ messageId } = { messageId: '' }] = outbox;
    const next = await orders.processWorkBatch({
      outboxCompletions: [{ messageId, status: MessageProcessingStatus.Published }],
    });
    expect(next).toEqual({ outbox: [], inbox: [], perspectives: [], leaseLost: [] });
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(pageText('package.json')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm (?:run )?(\w+)/g)].map(([, name = '']) => name);
    const run = named.filter((name) => name !== 'install');
    expect(run).toEqual(expect.arrayContaining(['demo', 'test', 'bench']));
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(run));
  });
});
