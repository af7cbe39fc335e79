// npx tsx scripts/mutate-perspectives.ts [name]…: breaks perspectives on purpose, one way after the other, in a copy of the
// working tree, and says which tests notice. Run by hand; it takes about a minute for each way.
// SCHEDULES says how many random schedules are tried for each; 0: only the single tests.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mutations } from './perspective-mutations.js';

const schedules = process.env.SCHEDULES ?? '200';
const root = path.resolve(import.meta.dirname, '..');
const copied = ['sql', 'src', 'test', 'scripts', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const property = 'test/properties/perspectives.test.ts';

const copy = mkdtempSync(path.join(tmpdir(), 'whizbang-mutated-'));
for (const name of copied) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));

/** Whether all tests of these files pass in the copy. */
function pass(files: readonly string[]): boolean {
  const embedded = spawnSync('node', ['scripts/embed-sql.mjs'], { cwd: copy, stdio: 'inherit' });
  if (embedded.status !== 0) throw new Error('The SQL could not be embedded.');
  const env = { ...process.env, PERSPECTIVE_SCHEDULES: schedules };
  return spawnSync('npx', ['vitest', 'run', ...files], { cwd: copy, env }).status === 0;
}

const wanted = process.argv.slice(2);
try {
  for (const { name, file, from, to, tests } of mutations) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const target = path.join(copy, file);
    const text = readFileSync(target, 'utf8');
    if (text.split(from).length !== 2)
      throw new Error(`${name}: ${file} does not have this text once: ${from}`);
    writeFileSync(
      target,
      text.replace(from, () => to),
    );
    const bySchedules = schedules === '0' ? '-' : pass([property]) ? 'no' : 'yes';
    const bySingle = tests.length === 0 ? '-' : pass(tests) ? 'no' : 'yes';
    console.log(`${name.padEnd(40)} schedules ${bySchedules.padEnd(4)} single tests ${bySingle}`);
    writeFileSync(target, text);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
