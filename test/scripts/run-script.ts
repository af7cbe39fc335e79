// Runs a script of this repository in a folder of its own. In: the files of the folder, arguments. Out: what the script
// printed, how it ended, and what the files hold afterwards.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

interface ScriptRun {
  readonly code: number;
  readonly output: string;
  read(path: string): Promise<string>;
}

export async function runScript(
  name: string,
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<ScriptRun> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const script = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), script, ...args],
      { cwd: folder },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : 0;
        const read = (path: string) => readFile(join(folder, path), 'utf8');
        resolve({ code, output: stdout + stderr, read });
      },
    );
  });
}
