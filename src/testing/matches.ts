/**
 * Whether a value has everything that the expected one has. Objects may have more, arrays may not. Matchers
 * of jest and vitest (`expect.any(String)`) work as parts of the expected value.
 */
export function matches(actual: unknown, expected: unknown): boolean {
  if (isMatcher(expected)) return expected.asymmetricMatch(actual);
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((part, i) => matches(actual[i], part))
    );
  }
  if (!isObject(expected)) return Object.is(actual, expected);
  // A sent message is JSON, so a Date in it is its text.
  if (typeof expected.toJSON === 'function') return matches(actual, expected.toJSON());
  if (!isObject(actual) || Array.isArray(actual)) return false;
  return Object.entries(expected).every(([key, part]) => matches(actual[key], part));
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
