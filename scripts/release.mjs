// Makes a release ready to be committed: bumps the version and dates the section "Unreleased" of the changelog.
//   npm run release -- <major | minor | patch | x.y.z> [--date yyyy-mm-dd]
// Run it in the root of the repository. It changes CHANGELOG.md, package.json, package-lock.json and
// src/version.ts, and changes nothing when it refuses. It never commits, tags or publishes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

class Refusal extends Error {}

const refuse = (message) => {
  throw new Refusal(message);
};

function nextVersion(current, asked) {
  const [major, minor, patch] = current.split('.').map(Number);
  if (asked === 'major') return `${major + 1}.0.0`;
  if (asked === 'minor') return `${major}.${minor + 1}.0`;
  if (asked === 'patch') return `${major}.${minor}.${patch + 1}`;
  if (asked === undefined || !/^\d+\.\d+\.\d+$/.test(asked)) {
    refuse('Say which version: major, minor, patch or x.y.z.');
  }
  if (isBelow(asked, current)) refuse(`${asked} is below ${current}.`);
  return asked;
}

function isBelow(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  const at = a.findIndex((part, i) => part !== b[i]);
  return at >= 0 && a[at] < b[at];
}

/**
 * Gives the section the version and the date, removes its empty parts, and adds a new section with the usual
 * parts above it.
 */
function datedChangelog(text, version, date) {
  if (text.includes(`\n## ${version} `)) refuse(`The changelog has a section ${version} already.`);
  const [before, rest] = text.split(/^## Unreleased$/m);
  if (rest === undefined) refuse('The changelog has no section "## Unreleased".');
  const end = rest.search(/^## /m);
  const [section, after] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end)];
  const parts = section
    .split(/^(?=### )/m)
    .filter((part) => part.replace(/^### .*$/m, '').trim() !== '')
    .map((part) => part.trim());
  if (parts.length === 0)
    refuse('"Unreleased" is empty: nothing has changed, so there is nothing to release.');
  const empty = '### Added\n\n### Changed\n\n### Fixed\n\n### Upgrade';
  const sections = [`## Unreleased\n\n${empty}`, `## ${version} (${date})\n\n${parts.join('\n\n')}`];
  return `${[before.trim(), ...sections, after.trim()].filter((part) => part !== '').join('\n\n')}\n`;
}

function replaced(path, pattern, replacement) {
  const text = readFileSync(path, 'utf8');
  if (!pattern.test(text)) refuse(`There is no version in ${path}.`);
  return text.replace(pattern, replacement);
}

function bumped(path, version) {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.version = version;
  if (manifest.packages?.[''] !== undefined) manifest.packages[''].version = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function release([asked, flag, given]) {
  if (flag !== undefined && (flag !== '--date' || !/^\d{4}-\d\d-\d\d$/.test(given ?? ''))) {
    refuse('The only option is --date yyyy-mm-dd.');
  }
  const date = given ?? new Date().toISOString().slice(0, 10);
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8'));
  const version = nextVersion(current, asked);
  const files = {
    'CHANGELOG.md': datedChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, date),
    'package.json': bumped('package.json', version),
    ...(existsSync('package-lock.json') ? { 'package-lock.json': bumped('package-lock.json', version) } : {}),
    'src/version.ts': replaced('src/version.ts', /(packageVersion = ')[^']*'/, `$1${version}'`),
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
  console.log(
    `${version} is ready: look at the changes, commit them as "Release ${version}" and tag v${version}.`,
  );
}

try {
  release(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
