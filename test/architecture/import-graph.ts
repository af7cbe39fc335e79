// Reads who imports whom. In: TypeScript sources by path. Out: for every file the files it imports, and cycles in that.
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

type ImportGraph = ReadonlyMap<string, readonly string[]>;

const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+)\1/g;

/** Paths are relative to `folder`. Imports of types count: they tie the reader as much as the others. */
export function importGraph(folder: string): ImportGraph {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(folder, file), 'utf8'))]));
}

export function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(specifiers)].map(([, , specifier = '']) =>
    normalize(join(file, '..', specifier)).replace(/\.js$/, '.ts'),
  );
}

/** One cycle as the way around it, or nothing. */
export function findCycle(graph: ImportGraph): string[] | undefined {
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const imported of graph.get(file) ?? []) {
      const cycle = visit(imported, [...way, file]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
