// A value as it will arrive: written as JSON and read again. A part that JSON or PostgreSQL's jsonb cannot
// hold is reported as a fault with its path. It never becomes null silently.
import { type Path, pathText } from './path.js';

interface JsonFault {
  readonly path: string;
  /** A description without the value, because payloads are secret. */
  readonly message: string;
}

type JsonCopy =
  | { readonly json: unknown; readonly text: string; readonly fault?: undefined }
  | { readonly fault: JsonFault; readonly cause?: unknown };

/** Only a text that matches this can have lost something, or be refused by PostgreSQL. Few texts match. */
const suspicious = /null|\\u0000|\\ud[89a-f]/;

export function copyAsJson(value: unknown): JsonCopy {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
    const fault = text === undefined || suspicious.test(text) ? findFault(value) : undefined;
    if (fault !== undefined) return { fault };
  } catch (cause) {
    return { fault: findFaultSafely(value), cause };
  }
  return { json: JSON.parse(text as string), text: text as string };
}

/** The first part of a value that JSON cannot keep; undefined when it keeps all of it. */
export function findFault(value: unknown): JsonFault | undefined {
  return walk(value, '', [], []);
}

function findFaultSafely(value: unknown): JsonFault {
  const other = { path: '', message: 'cannot be written as JSON' };
  try {
    return findFault(value) ?? other;
  } catch {
    return other; // a toJSON that throws, or a value nested deeper than the stack
  }
}

function walk(given: unknown, key: string, path: Path, ancestors: readonly object[]): JsonFault | undefined {
  const value = asJsonSeesIt(given, key);
  const fault = faultOf(given, value);
  if (fault !== undefined) return { path: pathText(path), message: fault };
  if (typeof value !== 'object' || value === null) return undefined;
  if (ancestors.includes(value)) return { path: pathText(path), message: 'contains itself' };
  const within = [...ancestors, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = walk(value[i], String(i), [...path, i], within);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    if (isLeftOut(asJsonSeesIt(member, name))) continue;
    const inKey = faultInText(name);
    if (inKey !== undefined) return { path: pathText(path), message: `has a key that ${inKey}` };
    const found = walk(member, name, [...path, name], within);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether JSON leaves out such a member of an object, so that the receiver does not see it. In an array it
 * becomes null.
 */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

function asJsonSeesIt(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'bigint') return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, key) : value;
}

function faultOf(given: unknown, value: unknown): string | undefined {
  if (given instanceof Date && Number.isNaN(given.getTime())) return 'is an invalid date';
  if (typeof value === 'bigint') return 'is a bigint, which JSON cannot hold';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is not a finite number';
  if (isLeftOut(value))
    return `is ${value === undefined ? 'undefined' : `a ${typeof value}`}, which JSON cannot hold`;
  return typeof value === 'string' ? faultInText(value) : undefined;
}

function faultInText(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a zero character, which PostgreSQL cannot store';
  if (/\p{Surrogate}/u.test(text)) return 'contains half a surrogate pair, which PostgreSQL cannot store';
  return undefined;
}
