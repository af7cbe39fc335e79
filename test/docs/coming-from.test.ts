// The page for those who come from a job queue: its program compiles, its table is whole.
import { describe, expect, it } from 'vitest';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout } from './program.js';

const page = pageText('docs/coming-from.md');
const [, program = ''] = codeBlocks(page, 'js');
const preamble = `
  import { createWhizbang, defineCommand, receptor } from 'whizbang';
  import { z } from 'zod';
  declare const connectionString: string;
  declare function sendInvoice(orderId: string): Promise<void>;
`;

describe('The page for those who come from a job queue', () => {
  it('the program of the page for users of job queues compiles', () => {
    expect(program).toContain('SendInvoice');
    expect(complaintsAbout({ 'coming-from': preamble + program })).toEqual([]);
  });

  it('the table of the page for users of job queues has as many columns in every row', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('|'));
    const columns = rows.map((row) => row.replaceAll('`', '').split('|').length);
    expect(new Set(columns).size).toBe(1);
  });
});
