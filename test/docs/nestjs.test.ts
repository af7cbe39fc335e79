// The page on NestJS is one application, made to JavaScript as Nest's own command line does it: with the types of
// constructors, which Nest injects by.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout, outputOf } from './program.js';

const page = pageText('docs/guide/nestjs.md');
const program = codeBlocks(page, 'ts').join('\n');
const asNest: ts.CompilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true };

describe('The page on NestJS', () => {
  it('the application of the page on NestJS runs and prints what the page says', async () => {
    await using db = await createTestDatabase();
    const { outputText } = ts.transpileModule(program, {
      compilerOptions: { ...asNest, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const printed = await outputOf(outputText, { env: { DATABASE_URL: db.connectionString } });
    expect(printed).toBe(codeBlocks(page, '').join(''));
  });

  it('the application of the page on NestJS compiles as it is written', () => {
    expect(complaintsAbout({ nestjs: program }, asNest)).toEqual([]);
  });

  it('the compiler refuses a method that does not fit its message', () => {
    const wrong = program.replace(
      'bill(placed: PayloadOf<typeof OrderPlaced>',
      'bill(placed: { wrong: string }',
    );
    expect(complaintsAbout({ nestjs: wrong }, asNest).join()).toContain('wrong');
  });
});
