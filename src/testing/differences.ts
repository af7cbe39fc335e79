/** A part of a value that is not as expected. */
export interface Difference {
  readonly path: readonly (string | number)[];
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * Where a value is not as expected. Objects may have more than expected, unless they are compared as a whole;
 * arrays may not. Matchers of jest and vitest (`expect.any(String)`) work as parts of the expected value.
 */
export function* differences(
  actual: unknown,
  expected: unknown,
  { whole = false }: { readonly whole?: boolean } = {},
  path: Difference['path'] = [],
): Generator<Difference> {
  const isMatched = isMatcher(expected) && expected.asymmetricMatch(actual);
  if (isMatched) return;
  if (!isMatcher(expected) && isObject(expected)) {
    // What is stored or sent is JSON, so a Date in it is its text.
    const wanted = jsonOf(expected);
    if (wanted !== expected) return yield* differences(jsonOf(actual), wanted, { whole }, path);
    if (isObject(actual) && Array.isArray(actual) === Array.isArray(expected)) {
      const isShut = whole || Array.isArray(expected);
      for (const key of new Set([...Object.keys(expected), ...(isShut ? Object.keys(actual) : [])])) {
        const place = Array.isArray(expected) ? Number(key) : key;
        yield* differences(actual[key], expected[key], { whole }, [...path, place]);
      }
      return;
    }
  } else if (Object.is(actual, expected)) return;
  yield { path, actual, expected };
}

/** Whether a value has everything that the expected one has. */
export function matches(actual: unknown, expected: unknown): boolean {
  return differences(actual, expected).next().done === true;
}

interface Matcher {
  asymmetricMatch(actual: unknown): boolean;
}

function isMatcher(value: unknown): value is Matcher {
  return isObject(value) && typeof value.asymmetricMatch === 'function';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function jsonOf(value: unknown): unknown {
  return isObject(value) && typeof value.toJSON === 'function' ? value.toJSON() : value;
}
