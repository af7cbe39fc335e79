// The files of sql/fragments: conditions that the claim and explain share, as text, so that the two cannot disagree and
// plans stay as they are. A file is included by its name in braces. Its header names the functions that include it, and
// what does not build: a fragment that other functions include, or that only one side does.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const folder = new URL('../sql/fragments/', import.meta.url);

/** The text of each fragment by its name, without its comment. */
export function readFragments() {
  return Object.fromEntries(
    filesOfFragments().map(({ name, text }) => [name, text.replaceAll(/^--.*\n/gm, '').trim()]),
  );
}

function filesOfFragments() {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      name: basename(file, '.sql'),
      text: readFileSync(new URL(file, folder), 'utf8'),
    }));
}

/**
 * What is wrong with the fragments, as sentences. Functions: `{file, text}` with the path below sql/functions.
 */
export function faultsOfFragments(functions, fragments = filesOfFragments()) {
  return fragments.flatMap(({ name, text }) => {
    const including = functions
      .filter((each) => each.text.replaceAll(/--.*/g, '').includes(`{${name}}`))
      .map(({ file }) => ({ file, name: nameOf(file) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const found = including.map((each) => each.name).join(', ');
    const listed = /^-- Included by: (.*)$/m.exec(text)?.[1] ?? 'nobody';
    const isExplain = ({ file }) => file.startsWith('explain/');
    if (found !== listed)
      return [
        `sql/fragments/${name}.sql says that ${listed} include it, but ${found || 'nobody'} does. Change the fragment, not a copy of it.`,
      ];
    if (!including.some(isExplain) || including.every(isExplain))
      return [`sql/fragments/${name}.sql is included by one side only: ${found}.`];
    return [];
  });
}

const nameOf = (file) =>
  basename(file)
    .replace(/_lane\.lane\.sql$/, '_{lane}')
    .replace(/\.sql$/, '');
