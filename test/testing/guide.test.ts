import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, pageText } from '../docs/page.js';
import { bundledDoorUrls, withoutTypes } from '../support/bundled-doors.js';

const blocks = codeBlocks(pageText('docs/guide/testing.md'), 'ts');
const files = blocks.map((code) => ({ name: /^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? '', code }));
const tests = files.filter(({ name }) => name.endsWith('.test.ts'));

const here = (code: string) => {
  const doorUrls = bundledDoorUrls();
  return code
    .replaceAll(/ from '(\.[^']*)\.ts'/g, " from '$1.js'")
    .replaceAll(/ from '([^'.][^']*)'/g, (_, name: string) =>
      name.startsWith('node:') ? ` from '${name}'` : ` from '${doorUrls[name] ?? import.meta.resolve(name)}'`,
    );
};
const built = (name: string) => name.replace(/\.ts$/, '.js');

describe('The examples of the guide to testing', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whizbang-guide-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { name, code } of files) await writeFile(join(folder, built(name)), withoutTypes(here(code)));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('every example of the guide to testing has a file name', () => {
    expect(files.map(({ name }) => name)).not.toContain('');
    expect(tests.length).toBeGreaterThan(3);
  });

  it.each(tests.map(({ name }) => name))(
    'the example %s passes under node:test, whose process ends by itself',
    async (name) => {
      const args = ['--test', '--test-reporter=tap', built(name)];
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        cwd: folder,
        env: cleanEnvironment(),
      });
      expect(stdout).toMatch(/^# fail 0$/m);
      expect(stdout).toMatch(/^# pass [1-9]/m);
    },
  );
});

/** A test run inside a test run would otherwise report to it, in its format. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...rest } = process.env;
  return rest;
}
