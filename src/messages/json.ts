// A value as it will arrive: written as JSON and read again. What JSON or PostgreSQL's jsonb cannot hold is a fault
// with the path to it, never a silent null.
import { type Path, pathText } from './path.js';

interface JsonFault {
  readonly path: string;
  /** Without the value: payloads are secret. */
  readonly message: string;
}

type JsonCopy =
  | { readonly json: unknown; readonly fault?: undefined }
  | { readonly fault: JsonFault; readonly cause?: unknown };

/** Only in a text with one of these can something have been lost, or be refused by PostgreSQL; few have them. */
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
  return { json: JSON.parse(text as string) };
}

/** The first thing in a value that does not survive; nothing when all of it does. */
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

/** JSON leaves such members of an object out, so the receiver sees them missing; in an array they become null. */
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
