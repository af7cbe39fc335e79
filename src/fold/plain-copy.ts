/** A copy, and the most bytes that it can have as JSON. */
interface PlainCopy {
  readonly json: unknown;
  readonly mostBytes: number;
}

/**
 * A frozen copy of a value that JSON keeps as it is: texts, numbers, booleans and null in plain objects and arrays. It
 * is what writing and reading it as JSON would make, at a fraction of the cost. Undefined: JSON has to decide, because
 * the value has something else in it, or something that JSON or PostgreSQL refuses.
 */
export function plainCopy(value: unknown): PlainCopy | undefined {
  const size = { bytes: 0 };
  const json = copyOf(value, size, 0);
  return json === notPlain ? undefined : { json, mostBytes: size.bytes };
}

const notPlain = Symbol('not plain');
/** Also the end of an object that contains itself. */
const deepest = 50;
const numberBytes = 25;

function copyOf(value: unknown, size: { bytes: number }, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      size.bytes += bytesOf(value);
      return isStorable(value) ? value : notPlain;
    case 'number':
      size.bytes += numberBytes;
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : notPlain;
    case 'boolean':
      size.bytes += numberBytes;
      return value;
    case 'object':
      size.bytes += numberBytes;
      if (value === null) return null;
      if (depth >= deepest) return notPlain;
      return Array.isArray(value) ? listOf(value, size, depth) : objectOf(value, size, depth);
    default:
      return notPlain;
  }
}

function listOf(list: readonly unknown[], size: { bytes: number }, depth: number): unknown {
  if ('toJSON' in list) return notPlain;
  const copy: unknown[] = [];
  for (const member of list) {
    const made = copyOf(member, size, depth + 1);
    if (made === notPlain) return notPlain;
    copy.push(made);
  }
  return Object.freeze(copy);
}

function objectOf(value: object, size: { bytes: number }, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return notPlain;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || !isStorable(key)) return notPlain;
    const made = copyOf((value as Record<string, unknown>)[key], size, depth + 1);
    if (made === notPlain) return notPlain;
    size.bytes += bytesOf(key);
    copy[key] = made;
  }
  return Object.freeze(copy);
}

/** Each character has at most six bytes: \u001f. */
const bytesOf = (text: string) => 6 * text.length + 4;

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');
