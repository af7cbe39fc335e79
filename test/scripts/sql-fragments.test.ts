// What the claim and explain share is one text: a copy that is changed in one place does not build.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultsOfFragments, readFragments } from '../../scripts/sql-fragments.mjs';

const folder = new URL('../../sql/functions/', import.meta.url);
const functions = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sql'))
  .map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }));
const fragments = Object.entries(readFragments()) as [string, string][];

describe('The fragments of SQL', () => {
  it('the fragments of SQL are included as they say, by the claim and by explain', () => {
    expect(fragments.length).toBeGreaterThan(10);
    expect(faultsOfFragments(functions)).toEqual([]);
  });

  it.each(fragments)('a change of %s in one place does not build', (name, text) => {
    const including = functions.filter((each) => each.text.includes(`{${name}}`));
    for (const one of including) {
      const changed = functions.map((each) =>
        each === one
          ? { ...each, text: each.text.replaceAll(`{${name}}`, text.replace('<=', '<').replace('>=', '>')) }
          : each,
      );
      expect(faultsOfFragments(changed), one.file).toEqual([
        expect.stringContaining(`sql/fragments/${name}.sql`),
      ]);
    }
  });

  it('a fragment that only explain includes does not build', () => {
    const alone = { name: 'alone', text: '-- Included by: wh_x\ntrue' };
    const faults = faultsOfFragments([{ file: 'explain/wh_x.sql', text: 'select {alone}' }], [alone]);
    expect(faults).toEqual([expect.stringContaining('one side only')]);
  });
});
