// The short way to what JSON makes of a model: where it answers at all, it is the same as writing and reading it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainCopy } from '../../src/fold/plain-copy.js';
import { copyAsJson } from '../../src/messages/index.js';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<unknown>(
    null,
    undefined,
    -0,
    new Date(0),
    1n,
    '\ud800',
    'a\0',
    { toJSON: () => 'x' },
    new Map(),
  ),
);
const keys = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'toJSON', 'a\0'));
const within = (inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(leaf, fc.array(inner, { maxLength: 4 }), fc.dictionary(keys, inner, { maxKeys: 4 }));
const anything = within(within(within(leaf)));

it('a plain copy has the members, the order and the text that JSON gives it, and no fewer bytes', () => {
  fc.assert(
    fc.property(anything, (value) => {
      const plain = plainCopy(value);
      if (plain === undefined) return;
      const copy = copyAsJson(value);
      if (copy.fault !== undefined) throw new Error(`JSON refuses ${copy.fault.path}: ${copy.fault.message}`);
      expect(JSON.stringify(plain.json)).toBe(copy.text);
      expect(plain.json).toStrictEqual(copy.json);
      expect(plain.mostBytes).toBeGreaterThanOrEqual(Buffer.byteLength(copy.text));
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['a date', new Date(0)],
  ['a missing member', { a: undefined }],
  ['a member that is not a number', { a: Number.NaN }],
  ['a class of its own', new (class {})()],
  ['a hole in a list', new Array(2)],
  ['a text that PostgreSQL refuses', { a: 'x\0' }],
])('%s is left to JSON', (_, value) => {
  expect(plainCopy(value)).toBeUndefined();
});

it('what contains itself is left to JSON', () => {
  const value: { self?: unknown } = {};
  value.self = value;
  expect(plainCopy(value)).toBeUndefined();
});

it('a plain copy is frozen, with all that it contains', () => {
  const { json } = plainCopy({ a: [{ b: 1 }] }) as { json: { a: { b: number }[] } };
  expect([json, json.a, json.a[0]].every((part) => Object.isFrozen(part))).toBe(true);
});
