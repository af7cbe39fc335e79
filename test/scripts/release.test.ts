import { describe, expect, it } from 'vitest';
import { pageText } from '../docs/page.js';
import { runScript } from './run-script.js';

const filled = `# Changelog

## Unreleased

### Added

- A door.

### Changed

### Fixed

- A hole.

### Upgrade

## 1.2.3 (2026-01-01)

### Added

- A wall.
`;
const empty = filled.replace('- A door.\n', '').replace('- A hole.\n', '');

const files = (changelog: string) => ({
  'CHANGELOG.md': changelog,
  'package.json': '{\n  "name": "whizbang",\n  "version": "1.2.3"\n}\n',
  'package-lock.json':
    '{\n  "version": "1.2.3",\n  "packages": {\n    "": {\n      "version": "1.2.3"\n    }\n  }\n}\n',
  'src/version.ts': "export const packageVersion = '1.2.3';\n",
});
const release = (changelog: string, ...args: string[]) => runScript('release.mjs', files(changelog), ...args);

describe('The release script', () => {
  it.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ])('the release script writes the version everywhere: %s of 1.2.3 is %s', async (asked, version) => {
    const run = await release(filled, asked);
    expect(run.output).toContain(`${version} is ready`);
    expect(run.code).toBe(0);
    expect(JSON.parse(await run.read('package.json'))).toEqual({ name: 'whizbang', version });
    expect(JSON.parse(await run.read('package-lock.json'))).toEqual({
      version,
      packages: { '': { version } },
    });
    expect(await run.read('src/version.ts')).toBe(`export const packageVersion = '${version}';\n`);
  });

  it('the release script dates the unreleased section and puts an empty one above it', async () => {
    const run = await release(filled, 'minor', '--date', '2026-02-03');
    expect(await run.read('CHANGELOG.md')).toBe(`# Changelog

## Unreleased

### Added

### Changed

### Fixed

### Upgrade

## 1.3.0 (2026-02-03)

### Added

- A door.

### Fixed

- A hole.

## 1.2.3 (2026-01-01)

### Added

- A wall.
`);
  });

  it.each([
    ['nothing unreleased', empty, ['minor'], 'is empty'],
    ['no section at all', '# Changelog\n', ['minor'], 'no section "## Unreleased"'],
    ['a version that was released', filled, ['1.2.3'], 'a section 1.2.3 already'],
    ['a version below the current one', filled, ['1.2.2'], 'is below 1.2.3'],
    ['no version', filled, [], 'Say which version'],
    ['what is no version', filled, ['next'], 'Say which version'],
    ['an unknown option', filled, ['minor', '--now'], 'The only option'],
  ])('the release script refuses %s and changes nothing', async (_, changelog, args, reason) => {
    const run = await release(changelog, ...args);
    expect(run.code).toBe(1);
    expect(run.output).toContain(reason);
    for (const [path, text] of Object.entries(files(changelog))) expect(await run.read(path)).toBe(text);
  });
});

describe('The files of this repository', () => {
  it('the version files of this repository are as the release script writes them', async () => {
    const paths = ['package.json', 'package-lock.json', 'src/version.ts'];
    const own = Object.fromEntries(paths.map((path) => [path, pageText(path)]));
    const { version } = JSON.parse(own['package.json'] ?? '') as { version: string };
    const run = await runScript('release.mjs', { ...own, 'CHANGELOG.md': filled }, '99.0.0');
    expect(run.output).toContain('99.0.0 is ready');
    for (const path of paths) expect((await run.read(path)).replaceAll('99.0.0', version)).toBe(own[path]);
  });

  it('the changelog begins with the unreleased section, with its parts in order', () => {
    const [, first = ''] = pageText('CHANGELOG.md').split(/^(?=## )/m);
    expect(first.match(/^##+ .*$/gm)).toEqual([
      '## Unreleased',
      '### Added',
      '### Changed',
      '### Fixed',
      '### Upgrade',
    ]);
  });
});
