import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('./plain-line-reporter.ts', import.meta.url));

/** Runs a test suite of one file in a process of its own and returns the last line it prints. */
async function lastLineOf(suite: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'some.test.ts'), suite);
  const args = [
    vitest,
    'run',
    '--root',
    folder,
    '--globals',
    '--reporter',
    'default',
    '--reporter',
    reporter,
  ];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, (_error, stdout) => resolve(stdout));
  });
  return output.trimEnd().split('\n').at(-1) ?? '';
}

it.each([
  [
    'every outcome',
    `it('a', () => {}); it('b', () => { throw new Error() }); it.skip('c'); it.todo('d');`,
    '1 passed, 1 failed, 2 skipped',
  ],
  ['a file that cannot be loaded', `throw new Error('at import');`, '0 passed, 1 failed, 0 skipped'],
  [
    'a hook that fails',
    `describe('x', () => { afterAll(() => { throw new Error() }); it('a', () => {}); });`,
    '1 passed, 1 failed, 0 skipped',
  ],
  [
    'an error outside any test',
    `it('a', () => { void Promise.reject(new Error('lost')); });`,
    '1 passed, 1 failed, 0 skipped',
  ],
])('the last line of a run counts %s', async (_name, suite, line) => {
  expect(await lastLineOf(suite)).toBe(line);
});
