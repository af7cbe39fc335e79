// What the README says of the runtimes on which its first program runs, and how each is had and called: in: the text of the
// README; out: data. Used by check-runtimes.ts. It runs nothing.

export interface Runtime {
  readonly name: string;
  /** As far as the README says it: `22`, `1.4`. */
  readonly version: string;
}

interface Program {
  /** The package of the npm registry with the program for Linux. It needs no install script. */
  readonly packageName: string;
  /** Where the program lies in the package. */
  readonly path: string;
  /** What stands before the file that is run. */
  readonly args: readonly string[];
}

/** The runtimes of the sentence "CI runs the program below on Node 20, 22 and 24, Bun 1.4 and Deno 2.9". */
export function promisedRuntimes(readme: string): Runtime[] {
  const [, list = ''] = /CI runs the program below on ([^;|]+)/.exec(readme) ?? [];
  let name = '';
  return [...list.matchAll(/(?:([A-Z]\w+) )?(\d[\d.]*)/g)].map(([, named, version = '']) => {
    name = named ?? name;
    return { name, version };
  });
}

/** How the runtime of that name is had and called on a processor, such as `x64`. */
export function programOf(name: string, processor: string): Program {
  switch (name) {
    case 'Node':
      return { packageName: `node-linux-${processor}`, path: 'bin/node', args: [] };
    case 'Bun': {
      const bunProcessor = processor === 'arm64' ? 'aarch64' : processor;
      return { packageName: `@oven/bun-linux-${bunProcessor}`, path: 'bin/bun', args: [] };
    }
    case 'Deno':
      return { packageName: `@deno/linux-${processor}-glibc`, path: 'deno', args: ['run', '--allow-all'] };
    default:
      throw new Error(`Nobody has said yet which package has ${name}.`);
  }
}

/** Whether two printed values are the same. Each runtime has its own quotes, lines and commas. */
export function isSameValue(printed: string, promised: string): boolean {
  return plain(printed) === plain(promised);
}

function plain(printed: string): string {
  return printed
    .replaceAll(/\s+/g, '')
    .replaceAll("'", '"')
    .replaceAll(/,(?=[\]}])/g, '');
}
