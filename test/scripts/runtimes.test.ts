import { describe, expect, it } from 'vitest';
import { isSameValue, programOf, promisedRuntimes } from '../../scripts/runtimes.js';
import { pageText } from '../docs/page.js';

const manifest = JSON.parse(pageText('package.json')) as { engines: { node: string } };

describe('The runtimes on which CI runs the program of the README', () => {
  it('the runtimes are read from the sentence of the README that names them', () => {
    const page =
      '| Node | 18 or later. CI runs the program below on Node 20, 22 and 24, Bun 1.4 and Deno 2.9; the rest |';
    expect(promisedRuntimes(page)).toEqual([
      { name: 'Node', version: '20' },
      { name: 'Node', version: '22' },
      { name: 'Node', version: '24' },
      { name: 'Bun', version: '1.4' },
      { name: 'Deno', version: '2.9' },
    ]);
    expect(promisedRuntimes('It runs on Node 20.')).toEqual([]);
  });

  it('the runtimes include the oldest Node that the package allows, and each has a source', () => {
    const runtimes = promisedRuntimes(pageText('README.md'));
    expect(runtimes[0]).toEqual({ name: 'Node', version: /\d+/.exec(manifest.engines.node)?.[0] });
    expect(new Set(runtimes.map(({ name }) => name))).toEqual(new Set(['Node', 'Bun', 'Deno']));
    for (const { name } of runtimes) expect(programOf(name, 'x64').packageName).toMatch(/linux-x64/);
  });

  it('a runtime without a known source is refused', () => {
    expect(() => programOf('Rhino', 'x64')).toThrow('which package has Rhino');
  });
});

describe('What a runtime printed', () => {
  it.each([
    ['Node', "[ { order_id: 'order-1', cents: 4200 } ]\n"],
    ['Bun', '[\n  {\n    order_id: "order-1",\n    cents: 4200,\n  }\n]\n'],
    ['Deno', '[ { order_id: "order-1", cents: 4200 } ]\n'],
  ])('an output in the style of %s is the promised value', (_, printed) => {
    expect(isSameValue(printed, "[ { order_id: 'order-1', cents: 4200 } ]\n")).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['an empty list', '[]'],
    ['another value', "[ { order_id: 'order-1', cents: 42 } ]"],
    ['the value twice', "[ { order_id: 'order-1', cents: 4200 }, { order_id: 'order-1', cents: 4200 } ]"],
  ])('an output is not the promised value when it is %s', (_, printed) => {
    expect(isSameValue(printed, "[ { order_id: 'order-1', cents: 4200 } ]\n")).toBe(false);
  });
});
