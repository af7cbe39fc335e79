export type Path = readonly PropertyKey[];

/**
 * A path as text, such as `lines[0].price`. A name that is no identifier is written in brackets and quotes.
 */
export function pathText(path: Path): string {
  return path.map((key, i) => (i === 0 ? first(key) : next(key))).join('');
}

/** The path that a text of `pathText` stands for. */
export function pathOf(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[]+)/g)].map(([, place, quoted, name]) => {
    if (place !== undefined) return Number(place);
    return quoted === undefined ? (name as string) : (JSON.parse(quoted) as string);
  });
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function first(key: PropertyKey): string {
  return typeof key === 'string' && identifier.test(key) ? key : next(key);
}

function next(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key);
  return identifier.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** The value at the path; undefined when there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
