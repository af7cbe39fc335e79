// The page of the API, the doors of the package and what an editor shows of them say the same.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { whizbangOptions } from '../../src/options.js';
import { codeWords, doors, pageText, root } from './page.js';

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

function isTypeOnly(path: string, name: string): boolean {
  const file = program.getSourceFile(pathOf(path)) as ts.SourceFile;
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol);
  const declarations = symbols.find((symbol) => symbol.name === name)?.declarations ?? [];
  return declarations.some((each) => ts.isExportSpecifier(each) && ts.isTypeOnlyExportDeclaration(each));
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
  it('a door of the package exports exactly what the page of the API lists', () => {
    const others = ['tx', 'process_work_batch', 'createWhizbang', 'Whizbang'];
    const named = new Set(namedIn(withoutMembers(sectionOf(door))));
    const exported = new Set(exportsOf(path).map(({ name }) => name));
    expect([...exported].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => !exported.has(name) && !others.includes(name))).toEqual([]);
  });

  it('a door of the package exports nothing without a description', () => {
    const silent = exportsOf(path).filter(
      ({ symbol }) => symbol.getDocumentationComment(checker).length === 0,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});

describe('The package', () => {
  const { exports } = JSON.parse(pageText('package.json')) as {
    exports: Record<string, { types: string; default: string }>;
  };

  it('the package has exactly the doors that the page of the API lists', () => {
    const paths = Object.entries(doors).map(([door, path]) => [
      door.replace('whizbang', '.'),
      path.replace('src/', './dist/').replace(/\.ts$/, ''),
    ]);
    const { './package.json': _, ...entries } = exports;
    const found = Object.entries(entries).map(([door, entry]) => [door, entry.default.replace(/\.js$/, '')]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(paths));
    for (const entry of Object.values(entries))
      expect(entry.types).toBe(entry.default.replace('.js', '.d.ts'));
  });

  it('the package exports each name by one door only', () => {
    const all = Object.values(doors).flatMap((path) => exportsOf(path).map(({ name }) => name));
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
  });

  it('the main door exports as values only the classes that users construct or throw', () => {
    const classes = exportsOf('src/index.ts').filter(
      ({ name, symbol }) => symbol.flags & ts.SymbolFlags.Class && !isTypeOnly('src/index.ts', name),
    );
    expect(classes.map(({ name }) => name).sort()).toEqual(['FinalError', 'WhizbangError']);
  });
});

describe('The page of the API', () => {
  it('the page of the API lists exactly the members of an instance', () => {
    const { symbol } = exportsOf('src/index.ts').find(({ name }) => name === 'Whizbang') as {
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
  it('the numbers of createWhizbang have the defaults that an editor shows', () => {
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
