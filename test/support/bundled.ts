// Programs that tests start as processes of their own, each made one file, once in a run. To load the sources one by one
// through tsx takes a second of processor time at each start, this a sixth of it; and the suites start hundreds.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { inject } from 'vitest';

/** The path of the program, ready for `node`. */
export function bundled(program: URL): string {
  const source = fileURLToPath(program);
  const file = join(inject('programsFolder'), `${source.replaceAll(/\W+/g, '-')}.mjs`);
  if (existsSync(file)) return file;
  const unfinished = `${file}.${process.pid}.mjs`;
  buildSync({
    entryPoints: [source],
    outfile: unfinished,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  renameSync(unfinished, file);
  return file;
}
