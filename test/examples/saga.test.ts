import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { codeBlocks, pageText } from '../docs/page.js';
import { bundled } from '../support/bundled.js';
import { createTestDatabase } from '../support/database.js';

const program = new URL('../../examples/saga/main.ts', import.meta.url);

describe('The example of a saga', () => {
  it('the example of a saga prints what its page says, and gives up one charge only', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const { stdout } = await promisify(execFile)(process.execPath, [bundled(program)], {
      env: { ...process.env, DATABASE_URL: db.connectionString },
      timeout: 150_000,
    });
    expect(stdout).toBe(codeBlocks(pageText('examples/saga/README.md'), '').join(''));
    const { rows } = await db.pool.query(`
      select event_type, attempts from payments.wh_dead_letters
      union all select event_type, attempts from shop.wh_dead_letters
      union all select event_type, attempts from stock.wh_dead_letters`);
    expect(rows).toEqual([{ event_type: 'ChargeCard', attempts: 4 }]);
  });
});
