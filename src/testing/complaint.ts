import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';
import { pathText } from '../messages/index.js';
import type { Difference } from './differences.js';

export const show = (value: unknown): string => inspect(value, { depth: 6, breakLength: 100, sorted: true });

/** Many differences are one: values of another kind were compared. */
const mostLines = 20;

/** The differences as lines: where, what was expected, and what is there. */
export function differenceLines(found: Iterable<Difference>): string {
  const lines = [...found].map(({ path, actual, expected }) => {
    const place = path.length === 0 ? 'the whole' : pathText(path);
    return `- ${place}: expected ${show(expected)}, found ${show(actual)}`;
  });
  const more = lines.length > mostLines ? [`- and ${lines.length - mostLines} more`] : [];
  return [...lines.slice(0, mostLines), ...more].join('\n');
}

/** The error that every test runner shows as a failed assertion. */
export function complaint(
  message: string,
  facts: { readonly actual?: unknown; readonly expected?: unknown; readonly operator: string },
  cause?: unknown,
): AssertionError {
  const error = new AssertionError({ message, ...facts });
  return cause === undefined ? error : Object.assign(error, { cause });
}

/** The rejection of a test that awaits what it has not asked anything of. */
export function nothingAsked(what: string, instead: string): AssertionError {
  return complaint(`${what} was awaited, and nothing was expected of it. Add ${instead}.`, {
    operator: 'given',
  });
}
