// Every file of sql/functions has the same shape: a header with the same keys, one function, few lines, and calls in one direction.
import { describe, expect, it } from 'vitest';
import {
  calledByLines,
  callsOf,
  parseFunction,
  readCallers,
  readFunctions,
} from '../../scripts/sql-calls.mjs';
import { findCycle } from './import-graph.js';

const functions = readFunctions();
const names = new Set(functions.map(({ name }) => name));
const folders = new Map(functions.map(({ name, folder }) => [name, folder]));
const callers = readCallers(functions);
const edges = functions.flatMap((fn) =>
  callsOf(fn, names).map((called) => ({ fn, called, from: fn.folder, to: folders.get(called) ?? '' })),
);

const keys = ['Locks', 'Reads by', 'Raises', 'Called by'];
const longestLine = 120;
const mostCodeLines = 80;
/** Longer than that, with the number of lines that they may have, and the reason. */
const mayBeLonger: Readonly<Record<string, readonly [lines: number, reason: string]>> = {
  'call/wh_open_call.sql': [140, 'one statement, in one snapshot, sees whether there is anything to do'],
  'explain/wh_would_lock.sql': [110, 'it mirrors wh_lock_due_streams, step by step'],
  'process_work_batch.sql': [140, 'the table of contents of a call'],
  'store/wh_try_store.sql': [116, 'the order of its steps is the lock order'],
  'streams/wh_claim_lane.lane.sql': [115, 'one statement, in one snapshot, decides on all streams'],
  'streams/wh_lock_due_streams.sql': [110, 'five kinds of due streams share one room and one cap'],
  'transfer/wh_transfer_each.sql': [130, 'one loop over schemas and messages, with the errors of both'],
};
/** '' are the files directly in sql/functions: the functions that applications call. */
const folderMayCall: Readonly<Record<string, readonly string[]>> = {
  '': [
    'admission',
    'call',
    'events',
    'limits',
    'perspectives',
    'report',
    'request',
    'route',
    'shortcuts',
    'store',
    'streams',
    'timers',
    'wake',
  ],
  admission: ['events', 'request', 'wake'],
  call: ['admission', 'request', 'streams'],
  events: ['request', 'wake'],
  explain: ['admission', 'call', 'events', 'limits', 'streams'],
  keeping: ['events', 'wake'],
  limits: ['request'],
  operate: ['call', 'perspectives', 'request', 'streams', 'wake'],
  perspectives: ['request', 'route', 'streams', 'ticks', 'wake'],
  receivers: [],
  report: ['call', 'request'],
  request: [],
  requests: ['request', 'wake'],
  route: ['request', 'store'],
  schedules: ['request', 'route'],
  shortcuts: ['call', 'events', 'report', 'request', 'route', 'store', 'streams'],
  store: ['admission', 'events', 'streams'],
  streams: ['admission', 'limits', 'request', 'wake'],
  ticks: ['request'],
  timers: ['call', 'operate', 'request', 'route', 'streams', 'wake'],
  transfer: ['', 'request', 'store'],
  unique: ['request'],
  wake: [],
};

/** What is wrong with a header: the purpose, then every key once, in order, each with a value. */
function faultsOf(header: readonly string[]): string[] {
  const found = header.flatMap((line) => /^-- ([A-Z][a-z]+(?: by)?):/.exec(line)?.[1] ?? []);
  const first = header.findIndex((line) => line.startsWith(`-- ${keys[0]}:`));
  const strays =
    first < 0 ? [] : header.slice(first).filter((line) => !/^-- ( |[A-Z][a-z ]+: \S)/.test(line));
  return [
    ...(found.filter((key) => keys.includes(key)).join() === keys.join() ? [] : ['keys']),
    ...(first === 0 ? ['no purpose'] : []),
    ...(strays.length > 0 ? ['text behind the keys, or a key without a value'] : []),
    ...(header.some((line) => line.length > longestLine) ? ['a line is too long'] : []),
  ];
}

describe('The files of sql/functions', () => {
  it('the header of every SQL function has a purpose and all keys, in order', () => {
    const wrong = functions.map(({ file, header }) => ({ file, faults: faultsOf(header) }));
    expect(wrong.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });

  it('the header of every SQL function names its callers, as `node scripts/sql-calls.mjs` writes them', () => {
    for (const { file, name, header } of functions) {
      const start = header.findIndex((line) => line.startsWith('-- Called by:'));
      expect(header.slice(start), file).toEqual(calledByLines(callers.get(name) ?? []));
    }
  });

  it('every SQL function has a caller', () => {
    expect([...callers].filter(([, list]) => list.length === 0)).toEqual([]);
  });

  it('every file of sql/functions is named like the function that it creates', () => {
    const wrong = functions.filter(({ name, creates }) => name !== creates);
    expect(wrong.map(({ file, creates }) => `${file} creates ${creates}`)).toEqual([]);
  });

  it('every SQL function is short, or has a reason to be longer', () => {
    const wrong = functions.filter(
      ({ file, codeLines }) => codeLines > (mayBeLonger[file]?.[0] ?? mostCodeLines),
    );
    expect(wrong.map(({ file, codeLines }) => `${file}: ${codeLines} lines of code`)).toEqual([]);
  });

  it('an SQL function that leaves the planner no choice points to the reason', () => {
    const forms = /enable_\w+ = off|\.lane = [^)]*\) is true|is null\) is true|\boffset 0\b/;
    const wrong = functions.filter(
      ({ code, text }) => forms.test(code) && !text.includes('docs/internals/mechanism.md#plans-that-hold'),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  it('the table of contents of a call, process_work_batch.sql, has at most 150 lines', () => {
    const { text } = functions.find(({ file }) => file === 'process_work_batch.sql') ?? { text: '' };
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
    expect(text).toContain('create or replace function process_work_batch(');
  });
});

describe('Calls between the folders of sql/functions', () => {
  it('SQL functions call only functions in folders that theirs may call', () => {
    const wrong = edges.filter(({ from, to }) => from !== to && !folderMayCall[from]?.includes(to));
    expect(wrong.map(({ fn, called }) => `${fn.file} calls ${called}`)).toEqual([]);
  });

  it('the calls between the folders of sql/functions have no cycle', () => {
    expect(findCycle(new Map(Object.entries(folderMayCall)))).toBeUndefined();
  });

  it('the list of folders that may call others names every folder of sql/functions', () => {
    expect(Object.keys(folderMayCall)).toEqual([...new Set(folders.values())].sort());
  });
});

describe('The check of the SQL functions', () => {
  const known = new Set(['wh_a', 'wh_b_{lane}', 'wh_c_inbox', 'wh_c_outbox', 'wh_d']);
  const callsIn = (body: string) => callsOf(parseFunction('x/wh_d.sql', `-- It.\n${body}`), known);

  it('the check of calls sees functions that are installed for both lanes, and single ones', () => {
    expect(callsIn('perform wh_b_inbox(1); perform wh_a (wh_c_{lane}(2));')).toEqual([
      'wh_b_{lane}',
      'wh_a',
      'wh_c_outbox',
      'wh_c_inbox',
    ]);
  });

  it('the check of calls sees no call in a comment, a string or a recursion', () => {
    expect(callsIn(`select 'wh_a(it''s)', wh_d(3); -- as wh_a() does`)).toEqual([]);
  });

  it('a parsed SQL function has the name, the folder and the length of its file', () => {
    const text = '-- Header.\ncreate or replace function wh_b_{lane}()\n\n  -- why\nreturns int\n';
    expect(parseFunction('x/wh_b_lane.lane.sql', text)).toMatchObject({
      folder: 'x',
      name: 'wh_b_{lane}',
      creates: 'wh_b_{lane}',
      header: ['-- Header.'],
      codeLines: 2,
    });
  });

  it('a long list of callers is broken into several lines', () => {
    const lines = calledByLines(Array.from({ length: 20 }, (_, place) => `wh_caller_${place}`));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.every((line) => line.length <= longestLine)).toBe(true);
    expect(lines[1]).toMatch(/^-- {3}wh_caller_/);
  });

  const whole = [
    '-- It does.',
    '-- Locks: none',
    '-- Reads by: no table',
    '-- Raises: none',
    '-- Called by: wh_a',
  ];

  it('the check of headers accepts a whole header', () => {
    expect(faultsOf(whole)).toEqual([]);
  });

  it.each([
    ['a key is missing', whole.slice(0, 4), 'keys'],
    ['keys are in another order', whole.with(1, '-- Raises: none').with(3, '-- Locks: none'), 'keys'],
    ['there is no purpose', whole.slice(1), 'no purpose'],
    ['a key has no value', whole.with(3, '-- Raises:'), 'text behind the keys, or a key without a value'],
    ['text follows the keys', [...whole, '-- More.'], 'text behind the keys, or a key without a value'],
    ['a line is too long', whole.with(0, `-- ${'x'.repeat(longestLine)}`), 'a line is too long'],
  ])('the check of headers refuses a header in which %s', (_, header, fault) => {
    expect(faultsOf(header)).toContain(fault);
  });
});
