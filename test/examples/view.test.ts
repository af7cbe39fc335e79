import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createView } from '../../examples/demo/view.js';

const progress = {
  expected: 3000,
  stored: 3000,
  delivered: 2999,
  handled: 2000,
  dead: 30,
  shipped: 7,
  waiting: 3,
  instances: new Map([['warehouse-1', { handled: 1999, streams: 120 }]]),
};
const instances = [{ name: 'warehouse-1', state: 'running', retries: 1000 }];

function shownAt(columns: number): string[] {
  let text = '';
  const out = { isTTY: true, columns, rows: 30, write: (more: string) => (text += more) };
  createView(out as never).show(progress, instances as never);
  return stripVTControlCharacters(text).split('\n');
}

describe('The live view of the demo', () => {
  it.each([200, 80, 60, 52])('the live view of the demo cuts no number off in %i columns', (columns) => {
    expect(shownAt(columns).filter((line) => line.length > columns)).toEqual([]);
    expect(shownAt(columns).join('\n')).toMatch(/handled +[█░]+ 2030\/3000 {2}\d+\/s/);
  });
});
