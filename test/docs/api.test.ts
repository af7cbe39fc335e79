// The page of the API, the doors of the package and what an editor shows of them say the same.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { whizbangOptions } from '../../src/options.js';
import { codeWords, pageText, root } from './page.js';

const doors = {
  whizbang: 'src/index.ts',
  'whizbang/embedded': 'src/embedded/index.ts',
  'whizbang/testing': 'src/testing/index.ts',
};
const pathOf = (path: string) => fileURLToPath(new URL(path, root));
const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: true,
};
const program = ts.createProgram(Object.values(doors).map(pathOf), options);
const checker = program.getTypeChecker();

function exportsOf(path: string): { name: string; symbol: ts.Symbol }[] {
  const file = program.getSourceFile(pathOf(path)) as ts.SourceFile;
  return checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol).map((symbol) => ({
    name: symbol.name,
    symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  }));
}

const page = pageText('docs/reference/api.md');
const sectionOf = (heading: string) => (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ')[0] ?? '';
/** The names of the tables, without those of members, which have a table of their own. */
const namedIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => codeWords(line.replaceAll(/\]\([^)]*\)/g, ']')))
    .filter((word) => /^\w+$/.test(word));
const instance = '### Whizbang, the instance';
const withoutMembers = (text: string) => {
  const [before = '', rest = ''] = text.split(instance);
  return before + rest.slice(rest.indexOf('\n### '));
};

describe.each(Object.entries(doors))('%s', (door, path) => {
  it('exports exactly what the page lists', () => {
    const others = ['whizbang', 'tx', 'process_work_batch', 'createWhizbang', 'Whizbang'];
    const named = new Set(namedIn(withoutMembers(sectionOf(door))));
    const exported = new Set(exportsOf(path).map(({ name }) => name));
    expect([...exported].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => !exported.has(name) && !others.includes(name))).toEqual([]);
  });

  it('exports nothing that an editor cannot say a word about', () => {
    const silent = exportsOf(path).filter(
      ({ symbol }) => symbol.getDocumentationComment(checker).length === 0,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});

describe('The page of the API', () => {
  it('lists exactly the members of an instance', () => {
    const { symbol } = exportsOf(doors.whizbang).find(({ name }) => name === 'Whizbang') as {
      symbol: ts.Symbol;
    };
    const members = checker
      .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
      .map(({ name }) => name)
      .filter((name) => /^\w+$/.test(name) && !name.startsWith('__'));
    const [, table = ''] = page.split(instance);
    const rows = (table.split('\n### ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
    const named = rows.flatMap((row) => codeWords(row.split('|')[1] ?? ''));
    expect(named.map((name) => name.replace('()', '')).sort()).toEqual(members.sort());
  });
});

describe('The numbers of createWhizbang', () => {
  it('have the defaults that an editor shows', () => {
    const source = pageText('src/options.ts');
    const shown = [...source.matchAll(/Default: ([^.]*)\. \*\/\n {2}readonly (\w+)\?:/g)];
    const said = shown.map(([, value, name]) => [name, value === 'no cap' ? undefined : Number(value)]);
    const real = Object.entries(whizbangOptions).map(([name, option]) => [
      name,
      'default' in option ? option.default : undefined,
    ]);
    expect(said).toEqual(real);
  });
});
