// The reading order of CONTRIBUTING leads through files that exist, to names that are in them, and is as short as it says.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');
const section = textOf('CONTRIBUTING.md').split('## The way of a message')[1]?.split('\n## ')[0] ?? '';
const stops = [...section.matchAll(/^\| \d+ \| `([^`]+)` \| (.*) \|$/gm)].map(([, file = '', look = '']) => ({
  file,
  names: [...look.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
}));

describe('The way of a message', () => {
  it('the way of a message has at most twelve stops', () => {
    expect(stops.length).toBeGreaterThan(8);
    expect(stops.length).toBeLessThanOrEqual(12);
  });

  it.each(stops)('the stop $file of the way of a message has the names to look at', ({ file, names }) => {
    const text = textOf(file);
    for (const name of names) expect(text, name).toMatch(new RegExp(`(^|[ .])${name}[(<:; ]`, 'm'));
  });

  it('the files on the way of a message have less than 2 050 lines', () => {
    const lines = stops.reduce((sum, { file }) => sum + textOf(file).split('\n').length, 0);
    expect(lines).toBeLessThan(2050);
  });
});
