// A Prisma client as a fresh clone has it: in: a folder and a model; out: the module that `prisma generate` made.
// It takes no network: generate would download an engine that it does not use, unless a binary for it is named.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cli = fileURLToPath(new URL('../../node_modules/prisma/build/index.js', import.meta.url));

/** A folder for generated code, where it finds the packages it imports; ignored by git. */
export function generatedFolder(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.whizbang-${name}-${process.pid}`, import.meta.url));
}

/** The client is then at `generated/prisma/client.ts` in the folder. */
export async function generatePrismaClient(folder: string, model: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const generator = 'generator client {\n  provider = "prisma-client"\n  output = "./generated/prisma"\n}';
  const datasource = 'datasource db {\n  provider = "postgresql"\n}';
  await writeFile(`${folder}/schema.prisma`, [generator, datasource, model].join('\n'));
  await promisify(execFile)(process.execPath, [cli, 'generate', '--schema', `${folder}/schema.prisma`], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  });
}
