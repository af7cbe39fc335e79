// Reading a payload whose sealed fields are erased. Its schema need not accept null there: it is given a stand-in, and
// what it makes of that is replaced by null.
import { WhizbangError } from '../errors.js';
import type { MessageIssue } from './issues.js';
import { pathOf, pathText, valueAt } from './path.js';

/** Tried in this order, until the schema accepts one: of every kind of value that JSON has, and of usual formats. */
const standIns: readonly unknown[] = [
  null,
  'erased',
  'erased@erased.invalid',
  0,
  1,
  false,
  true,
  [],
  [null],
  {},
  '1970-01-01T00:00:00.000Z',
  '1970-01-01',
  '00000000-0000-4000-8000-000000000000',
  'https://erased.invalid/',
  '+10000000000',
  '0',
  '',
];

const mostTries = 200;

/** What a schema has accepted before, by definition. */
const accepted = new WeakMap<object, Readonly<Record<string, unknown>>>();

/**
 * The search for values that a schema accepts in place of erased fields. It follows the complaints of the schema: what
 * it complains about, the field or a part of it, gets the next stand-in.
 */
export class StandIns {
  readonly #definition: object;
  readonly #fields: readonly string[];
  /** Those that the definition does not give. */
  readonly #open: readonly string[];
  readonly #given: Readonly<Record<string, unknown>>;
  /** Which stand-in is tried, by path. */
  readonly #places = new Map<string, number>();
  #values: Record<string, unknown>;
  #isGuess: boolean;
  #tries = 0;

  constructor(definition: object, fields: readonly string[], given: Readonly<Record<string, unknown>>) {
    this.#definition = definition;
    this.#fields = fields;
    this.#given = given;
    this.#open = fields.filter((field) => !Object.hasOwn(given, field));
    const known = accepted.get(definition);
    this.#isGuess = known !== undefined;
    this.#values = { ...this.#first(), ...known };
  }

  /** The payload with a value for each erased field. */
  fill(json: unknown): unknown {
    return { ...(json as object), ...structuredClone(this.#values) };
  }

  /** Goes on after the error that the values led to. False: there is nothing left to try. */
  next(error: unknown): boolean {
    if (!(error instanceof WhizbangError) || error.code !== 'INVALID_MESSAGE') return false;
    if (this.#isGuess) {
      this.#isGuess = false;
      this.#values = this.#first();
      return true;
    }
    const issues = (error.details.issues ?? []) as readonly MessageIssue[];
    const paths = new Set(issues.map(({ path }) => path));
    const within = [...paths].filter((path) => this.#open.includes(String(pathOf(path)[0])));
    // An issue of the whole payload, or of an upcaster, may be about any of them.
    const chosen = within.length > 0 ? within : this.#open.map((field) => pathText([field]));
    return chosen.length > 0 && this.#tries++ < mostTries && chosen.every((path) => this.#advance(path));
  }

  /** Remembers what was accepted, for the next payload. */
  remember(): void {
    accepted.set(this.#definition, this.#values);
  }

  #first(): Record<string, unknown> {
    return Object.fromEntries(this.#fields.map((field) => [field, this.#given[field] ?? null]));
  }

  #advance(path: string): boolean {
    const keys = pathOf(path);
    // The first of a field itself has been tried; a part that has just come into being begins with it.
    const place = (this.#places.get(path) ?? (keys.length === 1 ? 0 : -1)) + 1;
    if (place >= standIns.length) return false;
    for (const deeper of this.#places.keys()) if (deeper.startsWith(path)) this.#places.delete(deeper);
    this.#places.set(path, place);
    this.#values = structuredClone(this.#values);
    const holder = valueAt(this.#values, keys.slice(0, -1)) as
      | Record<PropertyKey, unknown>
      | null
      | undefined;
    if (typeof holder !== 'object' || holder === null) return false;
    holder[keys.at(-1) as PropertyKey] = structuredClone(standIns[place]);
    return true;
  }
}

/** Makes the erased fields of a payload null, as far as it has them. */
export function withoutErased(payload: unknown, fields: readonly string[]): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;
  const own = fields.filter((field) => Object.hasOwn(payload, field));
  return { ...payload, ...Object.fromEntries(own.map((field) => [field, null])) };
}
