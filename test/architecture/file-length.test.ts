// A file that is read in one go has at most 250 lines. Longer ones hold two subjects, or have a reason.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = ['src', 'sql/functions', 'scripts', 'bench', 'test'];
const mostLines = 250;
/** Files that may be longer, up to the second limit, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'src/coordinator/wire.ts': 'the call is encoded and decoded in one file',
  'src/errors.ts': 'every code with its hint, in one table',
  'src/options.ts': 'every option with its bounds, in one place',
  'src/work/publish/publisher-worker.ts':
    'one class keeps the order of its streams through outages and a stop',
  'test/coordinator/least-privilege.test.ts': 'it names every function that a role may call',
  'test/dashboard/browser.test.ts': 'one browser and one live system, which take seconds to start',
  'test/docs/why-not-running.test.ts': 'every query of one page, in both lanes',
  'test/migrate/upgrade.test.ts': 'most of it is the release before, which every test installs',
  'test/properties/support/model.ts': 'one machine whose state nothing else may see',
  'test/sql/going-on.test.ts': 'one rule of the claim, in both lanes',
  'test/sql/handlers.test.ts': 'one parameter of the call, and what it leaves to others',
  'test/sql/straight-to-the-inbox.test.ts': 'two ways to send that have to do the same',
  'test/sql/waking.test.ts': 'one protocol of those that sleep and those that wake them',
};
const mostLinesOfException = 400;

const linesOf = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

const files = new Map(
  folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => /\.(?:ts|mts|mjs|sql|c)$/.test(path) && !path.endsWith('.generated.ts'))
      .map((path): [string, number] => [path, linesOf(readFileSync(root + path, 'utf8'))]),
  ),
);

function tooLong(lengths: ReadonlyMap<string, number>): string[] {
  const limitOf = (path: string) => (Object.hasOwn(exceptions, path) ? mostLinesOfException : mostLines);
  return [...lengths]
    .filter(([path, lines]) => lines > limitOf(path))
    .map(([path, lines]) => `${path}: ${lines} lines`);
}

describe('The length of files', () => {
  it(`no file has more than ${mostLines} lines without a reason`, () => {
    expect(tooLong(files)).toEqual([]);
  });

  it('every file with a reason to be longer exists and is longer', () => {
    const unneeded = Object.keys(exceptions).filter((path) => (files.get(path) ?? 0) <= mostLines);
    expect(unneeded).toEqual([]);
  });

  it('the check of lengths sees the files of every folder', () => {
    const seen = folders.filter((folder) => [...files.keys()].some((path) => path.startsWith(`${folder}/`)));
    expect(seen).toEqual(folders);
  });

  it('the check of lengths counts lines and finds what is above a limit', () => {
    expect([linesOf('a\nb\n'), linesOf('a\nb')]).toEqual([2, 2]);
    const lengths = new Map([
      ['src/short.ts', 250],
      ['src/long.ts', 251],
      ['src/coordinator/wire.ts', 400],
      ['test/sql/waking.test.ts', 401],
    ]);
    expect(tooLong(lengths)).toEqual(['src/long.ts: 251 lines', 'test/sql/waking.test.ts: 401 lines']);
  });
});
