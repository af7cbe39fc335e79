import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const program = new URL('../../examples/orders/main.ts', import.meta.url);

function startExample(db: TestDatabase) {
  const child = spawn(process.execPath, [bundled(program)], {
    env: { ...process.env, DATABASE_URL: db.connectionString, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const closed = once(child, 'close');
  return {
    output: () => output,
    url: () => eventually(() => /http:\S+/.exec(output)?.[0] ?? expect.fail(output), 280_000),
    async stop() {
      child.kill('SIGINT');
      return (await closed)[0] as number | null;
    },
  };
}

/** The text of a page, without its tags. */
async function textOf(url: string, init?: RequestInit): Promise<string> {
  const page = await (await fetch(url, init)).text();
  return page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}

const order = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });

describe('The example of orders', { timeout: 600_000 }, () => {
  it('the example of orders prints what became of its orders, and its page shows it', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const example = startExample(db);
    const url = await example.url();
    const lines = example.output().split('\n');
    expect(lines.slice(-6, -2)).toEqual([
      'order-2: 8 tea for Bob, cancelled',
      'order-3: 4 teapot for Cleo, cancelled',
      'tea: 7 free, 3 shipped',
      'teapot: 5 free, 0 shipped',
    ]);
    expect(lines).toContain('order-1: 3 tea for Ada, shipped');
    await eventually(() => {
      expect(example.output()).toContain('Mail to Ada: order-1 is on its way.\n');
      expect(example.output()).toContain('Mail to Bob: order-2 is cancelled, sold out.\n');
      expect(example.output()).toContain('Mail to Cleo: order-3 is cancelled, the card was refused.\n');
    });
    const overview = await textOf(url);
    expect(overview).toContain('order-1 Ada 3 tea 10.50 € shipped');
    expect(overview).toContain('order-2 Bob 8 tea 28.00 € sold out');
    expect(overview).toContain('tea 7 free 0 reserved 3 shipped');
    expect(await textOf(`${url}/orders/order-3`)).toContain('4 teapot: the card was refused');
    expect(await example.stop()).toBe(0);
  });

  it('the page of the example shows an order in the answer to the form, and later what became of it', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const example = startExample(db);
    const url = await example.url();
    const thanks = await (
      await fetch(`${url}/orders`, order({ customer: '<i>Eve', sku: 'tea', pieces: '7' }))
    ).text();
    expect(thanks).toContain('Thank you, &#60;i&#62;Eve');
    expect(thanks).toMatch(/It is (placed|paid|shipped)/);
    const [, path = ''] = /href="(\/orders\/[^"]+)"/.exec(thanks) ?? [];
    await eventually(async () => expect(await textOf(url + path)).toContain('7 tea: shipped'));
    await eventually(async () => expect(await textOf(url)).toContain('tea 0 free 0 reserved 10 shipped'));
    expect(await textOf(`${url}/orders`, order({ customer: 'Eve', sku: 'tea', pieces: 'many' }))).toContain(
      'This is not an order',
    );
    expect((await fetch(`${url}/orders/none`)).status).toBe(404);
    expect(await example.stop()).toBe(0);
  });
});
