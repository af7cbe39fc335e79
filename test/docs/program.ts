// The programs of the pages, run and compiled as they are written: in: code that imports the packages by their names;
// out: what it printed, or what the compiler says. Called by the tests of the pages. It changes nothing but the imports.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { bundledDoorUrls, withoutTypes } from '../support/bundled-doors.js';
import { doors, root } from './page.js';

/** What the packages of the programs are here. */
const specifiers: Record<string, string> = {
  zod: import.meta.resolve('zod'),
  pg: import.meta.resolve('pg'),
  kysely: import.meta.resolve('kysely'),
  'drizzle-orm': import.meta.resolve('drizzle-orm'),
  'drizzle-orm/node-postgres': import.meta.resolve('drizzle-orm/node-postgres'),
  'drizzle-orm/pg-core': import.meta.resolve('drizzle-orm/pg-core'),
  '@nestjs/common': import.meta.resolve('@nestjs/common'),
  '@nestjs/core': import.meta.resolve('@nestjs/core'),
  'reflect-metadata': import.meta.resolve('reflect-metadata'),
};

const here = (code: string) => {
  const doorUrls = bundledDoorUrls();
  return code.replaceAll(
    /( from|^import) '([^']+)'/gm,
    (_, word, name: string) => `${word} '${doorUrls[name] ?? specifiers[name] ?? name}'`,
  );
};

/** What it prints, when it is run in an empty folder and ends with 0. */
export async function outputOf(
  program: string,
  { env = {}, file = 'program.mjs' }: { env?: Record<string, string>; file?: string } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-page-'));
  try {
    await writeFile(join(folder, file), withoutTypes(here(program)));
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: folder,
      // As a new database has it: a program that finds our tables only by the search path of the tests would fail elsewhere.
      env: { ...process.env, PGOPTIONS: '-c search_path=public', ...env },
    });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the compiler, as strict as it is here, has to say to programs. */
export function complaintsAbout(
  programs: Readonly<Record<string, string>>,
  more: ts.CompilerOptions = {},
): string[] {
  const folder = fileURLToPath(new URL('test/docs/', root));
  const files = new Map(
    Object.entries(programs).map(([name, code]) => [
      join(folder, `program-of-${name}.ts`),
      code.replaceAll(/ from '([^']+)'/g, (whole, door: string) => {
        const path = doors[door];
        return path === undefined ? whole : ` from '../../${path.replace(/\.ts$/, '.js')}'`;
      }),
    ]),
  );
  const config = ts.readConfigFile(fileURLToPath(new URL('tsconfig.json', root)), (path) =>
    ts.sys.readFile(path),
  );
  const parsed = ts.parseJsonConfigFileContent(config.config, ts.sys, fileURLToPath(root));
  const options = { ...parsed.options, ...more };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => files.has(path) || disk.fileExists(path),
    getSourceFile: (path, version, ...rest) => {
      const code = files.get(path);
      return code === undefined
        ? disk.getSourceFile(path, version, ...rest)
        : ts.createSourceFile(path, code, version);
    },
  };
  const program = ts.createProgram({ rootNames: [...files.keys()], options, host });
  return [...files.keys()]
    .flatMap((path) => ts.getPreEmitDiagnostics(program, program.getSourceFile(path)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
