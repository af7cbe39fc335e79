import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { strategyOptions } from '../../src/options.js';
import { codeBlocks, pageText } from '../docs/page.js';
import { bundledDoorUrls, withoutTypes } from '../support/bundled-doors.js';
import { openWorkbench, range } from './workbench.js';

const page = pageText('docs/guide/strategies.md');

it('the code of the guide to strategies runs as it stands, one block after the other', async () => {
  await using bench = await openWorkbench();
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-guide-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const doorUrls = bundledDoorUrls();
  const code = [...codeBlocks(page, 'ts'), 'await pool.end();']
    .join('\n')
    .replaceAll(/from '(whizbang[^']*)'/g, (_, door: string) => `from '${doorUrls[door]}'`)
    .replaceAll("from 'pg'", `from '${import.meta.resolve('pg')}'`);
  await writeFile(join(folder, 'guide.mjs'), withoutTypes(code));
  const { stdout } = await promisify(execFile)(process.execPath, ['guide.mjs'], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: bench.db.connectionString },
  });
  expect(await bench.stored()).toEqual(range(1, 5));
  expect(stdout).toMatch(/^5 0 [\d.]+\n$/);
});

it('the guide to strategies names the defaults and bounds that the code has', () => {
  for (const [name, option] of Object.entries(strategyOptions)) {
    expect(page).toContain(`| \`${name}\` | ${option.default} | ${option.min} to ${option.max}`);
  }
});
