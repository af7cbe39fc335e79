// Runs the first program of the README on every runtime that the README names, as a reader would: the packed package and
// what else the program needs are installed into an empty folder. The runtimes come from the npm registry too, so nothing
// has to be there but Node and npm, on Linux.
//   npm run check:runtimes     prints a line per runtime and ends with 1 when one fails
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { codeBlocks, pageText, root } from '../test/docs/page.js';
import { isSameValue, programOf, promisedRuntimes, type Runtime } from './runtimes.js';

/** As many as a small machine can do. */
const atOnce = 2;
/** For a program that hangs: it takes seconds. */
const mostMilliseconds = 120_000;

const readme = pageText('README.md');
const [program = ''] = codeBlocks(readme, 'js');

/** Runs a program to its end and returns what it printed. */
async function run(folder: string, command: string, ...args: readonly string[]): Promise<string> {
  try {
    const env = { ...process.env, DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1' };
    const { stdout } = await promisify(execFile)(command, args, {
      cwd: folder,
      env,
      timeout: mostMilliseconds,
    });
    return stdout;
  } catch (error) {
    const { code, signal, stdout, stderr, message } = error as ExecFileException;
    throw new Error(`ended with ${code ?? signal}: ${stderr || stdout || message}`, { cause: error });
  }
}

const install = (folder: string, ...packages: readonly string[]) =>
  run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...packages);

/** A folder that npm takes for the root of a project, wherever it lies. */
async function emptyProject(...path: readonly string[]): Promise<string> {
  const folder = join(...path);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{}');
  return folder;
}

/** The folder of a reader who has done what the README says. */
async function readersFolder(place: string): Promise<string> {
  await run(fileURLToPath(root), 'npm', 'pack', '--loglevel=error', '--pack-destination', place);
  const [tarball = ''] = (await readdir(place)).filter((name) => name.endsWith('.tgz'));
  const [, packages = ''] = /`npm install ([^`]*)`/.exec(readme) ?? [];
  const folder = await emptyProject(place, 'reader');
  await install(
    folder,
    ...packages.split(' ').map((name) => (name === 'whizbang' ? join(place, tarball) : name)),
  );
  await writeFile(join(folder, 'first.mjs'), program);
  return folder;
}

/** The version that ran the program. Throws when it did not print what the README says. */
async function runOn({ name, version }: Runtime, place: string, folder: string): Promise<string> {
  const { packageName, path, args } = programOf(name, process.arch);
  const home = await emptyProject(place, `${name}-${version}`);
  await install(home, '--ignore-scripts', `${packageName}@${version}`);
  const command = join(home, 'node_modules', packageName, path);
  const [found = ''] = /\d+\.\d+\.\d+/.exec(await run(home, command, '--version')) ?? [];
  if (!found.startsWith(`${version}.`)) throw new Error(`is ${found}`);
  const printed = await run(folder, command, ...args, 'first.mjs');
  if (!codeBlocks(readme, '').some((block) => isSameValue(printed, block))) {
    throw new Error(`printed ${printed}`);
  }
  return found;
}

/** Says how it went on each runtime; true when all is as the README says. */
async function checkAll(runtimes: readonly Runtime[], place: string): Promise<boolean> {
  const folder = await readersFolder(place);
  const waiting = runtimes.values();
  let isRight = true;
  const checkNext = async () => {
    for (const runtime of waiting) {
      const started = performance.now();
      try {
        const version = await runOn(runtime, place, folder);
        const seconds = Math.round((performance.now() - started) / 1000);
        console.log(`${runtime.name} ${version}: prints what the README says, ${seconds} s`);
      } catch (error) {
        isRight = false;
        console.error(`${runtime.name} ${runtime.version}: FAILED: ${(error as Error).message.trim()}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, checkNext));
  return isRight;
}

const runtimes = promisedRuntimes(readme);
if (runtimes.length === 0) throw new Error('The README does not say on which runtimes CI runs its program.');
const place = await mkdtemp(join(tmpdir(), 'whizbang-runtimes-'));
try {
  process.exitCode = (await checkAll(runtimes, place)) ? 0 : 1;
} finally {
  await rm(place, { recursive: true, force: true });
}
