// Every option with its default, bound and unit, and the one way options are resolved.
// In: what a user wrote. Out: a frozen object with the defaults filled in, or INVALID_OPTION with a hint.
// Called by whatever takes options. It never reads the environment.
import { WhizbangError } from './errors.js';

export interface NumberOption {
  readonly default?: number;
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  readonly fractions?: true;
}

/** An option without a default is left out of the call, and the default of the SQL function holds. */
export const coordinatorOptions = {
  partitionCount: { min: 1, max: 1_000_000, unit: 'partitions' },
  maxPartitionsPerInstance: { min: 1, max: 1_000_000, unit: 'partitions' },
  leaseSeconds: { min: 1, max: 86_400, unit: 'seconds' },
  staleThresholdSeconds: { min: 1, max: 604_800, unit: 'seconds' },
  takeoverSeconds: { min: 0, max: 86_400, unit: 'seconds', fractions: true },
  maxRetries: { default: 3, min: 0, max: 20, unit: 'retries' },
  retryDelayMs: { default: 25, min: 1, max: 60_000, unit: 'milliseconds' },
} as const satisfies OptionTable;

export type OptionTable = Readonly<Record<string, NumberOption>>;

export type GivenOptions<T extends OptionTable> = { readonly [K in keyof T]?: number | undefined };

export type ResolvedOptions<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly default: number } ? number : number | undefined;
};

/** Defaults, then bounds. Keys that are neither in the table nor in `others` are refused. */
export function resolveOptions<T extends OptionTable>(
  owner: string,
  table: T,
  given: Readonly<Record<string, unknown>>,
  others: readonly string[] = [],
): ResolvedOptions<T> {
  refuseUnknownKeys(owner, given, [...others, ...Object.keys(table)]);
  const entries = Object.entries(table).map(([name, option]) => {
    const value = given[name] ?? option.default;
    if (value !== undefined) refuseOutOfBounds(owner, name, option, value);
    return [name, value];
  });
  return Object.freeze(Object.fromEntries(entries)) as ResolvedOptions<T>;
}

function refuseOutOfBounds(owner: string, name: string, option: NumberOption, value: unknown): void {
  const isRight =
    typeof value === 'number' &&
    (option.fractions ? Number.isFinite(value) : Number.isInteger(value)) &&
    value >= option.min &&
    value <= option.max;
  if (isRight) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `${owner}: ${name} is ${show(value)}.`,
    hint: `Give ${option.fractions ? 'a number' : 'a whole number'} of ${option.unit} from ${option.min} to ${option.max}.`,
    details: { option: name, value, min: option.min, max: option.max, unit: option.unit },
  });
}

export function refuseUnknownKeys(
  owner: string,
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const near = nearestTo(key, known);
    throw new WhizbangError('INVALID_OPTION', {
      message: `${owner}: there is no option ${key}.`,
      hint: near === undefined ? `There are ${[...known].sort().join(', ')}.` : `Did you mean ${near}?`,
      details: { option: key, ...(near === undefined ? {} : { nearest: near }) },
    });
  }
}

/** The closest known name, when no more than a third of it would have to be typed differently. */
function nearestTo(key: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, distance: distance(key.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.ceil(best.name.length / 3) ? best.name : undefined;
}

/** Levenshtein's: how many letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
