// The package as it was at commit 0fb743f: runtime and SQL, before timers, limits, schedules and giving up. One file, made
// with `git archive 0fb743f`, `node scripts/embed-sql.mjs` and esbuild (bundle, packages external, minify), as brotli.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { inject } from 'vitest';
import type * as Package from '../../../src/index.js';

type Before = Pick<
  typeof Package,
  'createWhizbang' | 'defineCommand' | 'defineEvent' | 'receptor' | 'migrate'
>;

/** Imports it from a folder from which its dependencies are found. */
export async function releaseBefore(): Promise<Before> {
  const packed = readFileSync(new URL('release-0fb743f.mjs.br', import.meta.url));
  const file = join(inject('programsFolder'), `release-0fb743f-${process.pid}.mjs`);
  writeFileSync(file, brotliDecompressSync(packed));
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Before;
}
