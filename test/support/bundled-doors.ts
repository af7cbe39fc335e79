// The doors of the package as built files, made once in a run, for programs that tests take from pages. In: the doors, by
// the names that programs import. Out: addresses that any `node` can import. To load the sources one by one through tsx
// takes more than a second of processor time at each start.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync, transformSync } from 'esbuild';
import { inject } from 'vitest';
import { doors, root } from '../docs/page.js';

const fileOf = (door: string) => `${door.replaceAll('/', '-')}.mjs`;

/** The addresses of the doors, by their names. */
export function bundledDoorUrls(): Readonly<Record<string, string>> {
  const folder = join(inject('programsFolder'), 'doors');
  if (!existsSync(folder)) build(folder);
  return Object.fromEntries(
    Object.keys(doors).map((door) => [door, pathToFileURL(join(folder, fileOf(door))).href]),
  );
}

/** The program without its types, ready for `node`. */
export function withoutTypes(program: string): string {
  return transformSync(program, { loader: 'ts', format: 'esm', target: 'node20' }).code;
}

function build(folder: string): void {
  const unfinished = `${folder}-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  buildSync({
    entryPoints: Object.fromEntries(
      Object.entries(doors).map(([door, path]) => [
        fileOf(door).replace(/\.mjs$/, ''),
        fileURLToPath(new URL(path, root)),
      ]),
    ),
    outdir: unfinished,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  try {
    renameSync(unfinished, folder);
  } catch {
    rmSync(unfinished, { recursive: true }); // another worker was faster
  }
}
