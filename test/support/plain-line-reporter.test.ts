import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { notTried } from './brokers/not-tried.js';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('./plain-line-reporter.ts', import.meta.url));

interface Run {
  readonly lines: readonly string[];
  readonly hasFailed: boolean;
}

/** Runs a test suite of one file, with a second try for each test, in a process of its own. */
async function run(suite: string, file = 'some.test.ts', ci = ''): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), suite);
  const args = [
    vitest,
    'run',
    '--root',
    folder,
    '--globals',
    '--retry=1',
    '--reporter',
    'default',
    '--reporter',
    reporter,
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, CI: ci } }, (error, stdout) =>
      resolve({ lines: stdout.trimEnd().split('\n'), hasFailed: error !== null }),
    );
  });
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
  expect((await run(suite)).lines.at(-1)).toBe(line);
});

it('the last lines of a run name each transport that was not tried, once', async () => {
  const reason = notTried('Carrier pigeons', 'Buy some.');
  const test = (title: string) => `it('${title}', ({ skip }) => skip('${reason}'));`;

  const { lines } = await run(`${test('a')} ${test('b')} it('c', ({ skip }) => skip('another reason'));`);

  expect(lines.slice(-2)).toEqual(['Not tried: Carrier pigeons. Buy some.', '0 passed, 0 failed, 3 skipped']);
  expect(lines.filter((line) => line === reason)).toHaveLength(1);
});

it('a run without a broker passes and names it in its last lines, and in CI it fails', async () => {
  const broker = fileURLToPath(new URL('./brokers/broker.ts', import.meta.url));
  const pigeons = `{ name: 'Carrier pigeons', howToTry: 'Buy some.', find: async () => undefined }`;
  const suite = `import { withBroker } from '${broker}';
    it('a', () => {});
    await withBroker(${pigeons}, () => it('b', () => { throw new Error('there is no broker'); }));`;

  const here = await run(suite);
  const inCi = await run(suite, undefined, 'true');

  expect(here.hasFailed).toBe(false);
  expect(here.lines.slice(-2)).toEqual([
    'Not tried: Carrier pigeons. Buy some.',
    '1 passed, 0 failed, 1 skipped',
  ]);
  expect(inCi.hasFailed).toBe(true);
  expect(inCi.lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
});

const unsteady = (title: string) =>
  `{ let tries = 0; it('${title}', () => { if (++tries === 1) throw new Error('too early') }); }`;

it('a test that passes on its second try is named with its first failure, and the run passes', async () => {
  const { lines, hasFailed } = await run(`it('steady', () => {}); ${unsteady('shaky')}`);

  expect(lines.slice(-3)).toEqual([
    'Unsteady: some.test.ts > shaky',
    '  failed at first: too early',
    '2 passed, 0 failed, 0 skipped',
  ]);
  expect(hasFailed).toBe(false);
});

it('a test that asks for several tries itself is not called unsteady', async () => {
  const { lines } = await run(
    `let tries = 0; it('patient', { retry: 3 }, () => { if (++tries === 1) throw new Error('too early') });`,
  );

  expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped');
  expect(lines.join('\n')).not.toContain('Unsteady');
});

it.each([
  ['three tests', ['a', 'b', 'c'].map(unsteady).join(' '), 'some.test.ts'],
  ['a property', unsteady('a'), 'test/properties/some.test.ts'],
  ['a race', unsteady('a'), 'test/races/some.test.ts'],
])('a run fails in which %s passed only on the second try', async (_name, suite, file) => {
  const { lines, hasFailed } = await run(suite, file);

  expect(hasFailed).toBe(true);
  expect(lines).toContain(
    'Unsteady tests fail this run: there are several, or one of what must always hold.',
  );
});
