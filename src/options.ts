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
  callTimeoutSeconds: { min: 1, max: 86_400, unit: 'seconds', fractions: true },
  maxRetries: { default: 3, min: 0, max: 20, unit: 'retries' },
  retryDelayMs: { default: 25, min: 1, max: 60_000, unit: 'milliseconds' },
} as const satisfies OptionTable;

export const orderedStreamProcessorOptions = {
  maxConcurrentStreams: { default: 32, min: 1, max: 10_000, unit: 'streams' },
} as const satisfies OptionTable;

/** The numbers that createWhizbang takes, with their defaults. Bounds: `whizbangOptions`. */
export interface WhizbangNumbers {
  /** How many receptors run at once, each for another stream. Default: 8. */
  readonly concurrency?: number | undefined;
  /** How many inbox messages it holds at most: 100, and more when they are handled quickly. Default: 500. */
  readonly prefetch?: number | undefined;
  /** How many deliveries of the transport may be under way to the inbox. Default: 1000. */
  readonly receivePrefetch?: number | undefined;
  /** How many messages one transaction handles at most, if more than `concurrency` wait. 1: one each. Default: 16. */
  readonly groupSize?: number | undefined;
  /** How many messages go to the transport in one step. Default: 100. */
  readonly publishBatchSize?: number | undefined;
  /** How long a claim lasts unless it is renewed: the delay that a crash costs. Default: 15. */
  readonly leaseSeconds?: number | undefined;
  /** How often it renews what it holds, at most half of `leaseSeconds`. Default: 5. */
  readonly renewSeconds?: number | undefined;
  /** After how long without a call another instance counts as gone. Default: 30. */
  readonly staleThresholdSeconds?: number | undefined;
  /** Work that its owner has not claimed for so long may be claimed by any instance. Default: 5. */
  readonly takeoverSeconds?: number | undefined;
  /** Into how many partitions the streams are spread. The same for all instances. Default: 10000. */
  readonly partitionCount?: number | undefined;
  /** In how many partitions it may hold leases at one time. Default: no cap. */
  readonly maxPartitionsPerInstance?: number | undefined;
  /** How often an idle instance polls without a notification. Default: 1000. */
  readonly pollIntervalMs?: number | undefined;
  /** How long the first message of a batch waits, for `strategy: 'interval'`. Default: 100. */
  readonly intervalMs?: number | undefined;
  /** How long `stop` waits for what runs. Default: 20. */
  readonly stopSeconds?: number | undefined;
}

/** Numbers of createWhizbang. The lease is short, because running work renews it: a crash costs seconds. */
export const whizbangOptions = {
  concurrency: { default: 8, min: 1, max: 1_000, unit: 'streams' },
  prefetch: { default: 500, min: 1, max: 10_000, unit: 'messages' },
  receivePrefetch: { default: 1_000, min: 1, max: 10_000, unit: 'messages' },
  groupSize: { default: 16, min: 1, max: 100, unit: 'messages' },
  publishBatchSize: { default: 100, min: 1, max: 1_000, unit: 'messages' },
  leaseSeconds: { default: 15, min: 2, max: 86_400, unit: 'seconds' },
  renewSeconds: { default: 5, min: 1, max: 28_800, unit: 'seconds', fractions: true },
  staleThresholdSeconds: { default: 30, min: 2, max: 604_800, unit: 'seconds' },
  takeoverSeconds: { default: 5, min: 0, max: 86_400, unit: 'seconds', fractions: true },
  partitionCount: { default: 10_000, min: 1, max: 1_000_000, unit: 'partitions' },
  maxPartitionsPerInstance: { min: 1, max: 1_000_000, unit: 'partitions' },
  pollIntervalMs: { default: 1_000, min: 10, max: 60_000, unit: 'milliseconds' },
  intervalMs: { default: 100, min: 1, max: 60_000, unit: 'milliseconds' },
  stopSeconds: { default: 20, min: 0, max: 3_600, unit: 'seconds', fractions: true },
} as const satisfies Record<keyof WhizbangNumbers, NumberOption>;

/** Options of `telemetry` of createWhizbang. */
export const telemetryOptions = {
  continueSeconds: { default: 300, min: 0, max: 86_400, unit: 'seconds', fractions: true },
} as const satisfies OptionTable;

/** Options of defineEvent and defineCommand. */
export const definitionOptions = {
  version: { default: 1, min: 1, max: 10_000, unit: 'versions' },
} as const satisfies OptionTable;

/** Options of a receptor. Without timeoutSeconds it may take as long as it needs: its lease is renewed. */
export const receptorOptions = {
  timeoutSeconds: { min: 0.001, max: 86_400, unit: 'seconds', fractions: true },
  concurrency: { min: 1, max: 10_000, unit: 'messages' },
} as const satisfies OptionTable;

/** Options of a receptor's `rate`. */
export const rateOptions = {
  count: { min: 1, max: 1_000_000, unit: 'messages' },
  perSeconds: { min: 0.001, max: 86_400, unit: 'seconds', fractions: true },
} as const satisfies OptionTable;

/** Options of batchReceptor. */
export const batchOptions = {
  size: { min: 1, max: 1_000, unit: 'messages' },
  waitMs: { default: 0, min: 0, max: 60_000, unit: 'milliseconds' },
} as const satisfies OptionTable;

/** Options of a receptor's `retry`. */
export const retryOptions = {
  attempts: { default: 10, min: 1, max: 1_000_000, unit: 'attempts' },
  firstDelaySeconds: { default: 1, min: 0, max: 86_400, unit: 'seconds', fractions: true },
  maxDelaySeconds: { default: 300, min: 0, max: 604_800, unit: 'seconds', fractions: true },
  factor: { default: 2, min: 1, max: 100, unit: 'times', fractions: true },
  jitter: { default: 0.25, min: 0, max: 1, unit: 'parts', fractions: true },
} as const satisfies OptionTable;

/** Options of send, publish and invoke. */
export const sendOptions = {
  delaySeconds: { min: 0, max: 315_360_000, unit: 'seconds', fractions: true },
  expectedVersion: { min: 0, max: Number.MAX_SAFE_INTEGER, unit: 'events' },
  uniqueSeconds: { min: 0.001, max: 315_360_000, unit: 'seconds', fractions: true },
  priority: { default: 0, min: -2_147_483_647, max: 2_147_483_647, unit: 'steps' },
} as const satisfies OptionTable;

/** Options of request. */
export const requestOptions = {
  timeoutSeconds: { default: 30, min: 0.001, max: 86_400, unit: 'seconds', fractions: true },
} as const satisfies OptionTable;

/** Options of decider. */
export const deciderOptions = {
  snapshotEvery: { min: 1, max: 1_000_000, unit: 'events' },
  foldVersion: { default: 1, min: 1, max: 1_000_000, unit: 'versions' },
} as const satisfies OptionTable;

/** Options of `retention`. */
export const retentionOptions = {
  deduplicationDays: { min: 0.001, max: 36_500, unit: 'days', fractions: true },
  deadLetterDays: { min: 0.001, max: 36_500, unit: 'days', fractions: true },
  operationDays: { min: 0.001, max: 36_500, unit: 'days', fractions: true },
} as const satisfies OptionTable;

/** Options of `history`. */
export const historyOptions = {
  days: { min: 1, max: 3_650, unit: 'days', fractions: true },
  share: { default: 1, min: 0.01, max: 1, unit: 'share', fractions: true },
} as const satisfies OptionTable;

/** Options of a rule of `retention.events`. */
export const retentionRuleOptions = {
  days: { min: 0.001, max: 36_500, unit: 'days', fractions: true },
} as const satisfies OptionTable;

/** Options of deadLetters.list. */
export const deadLetterOptions = {
  limit: { default: 100, min: 1, max: 1_000, unit: 'letters' },
  before: { min: 1, max: Number.MAX_SAFE_INTEGER, unit: 'numbers' },
} as const satisfies OptionTable;

/** Options of events.stream. */
export const streamOptions = {
  after: { min: 0, max: Number.MAX_SAFE_INTEGER, unit: 'versions' },
  limit: { min: 1, max: Number.MAX_SAFE_INTEGER, unit: 'events' },
} as const satisfies OptionTable;

/** Options of timers.list. */
export const timerListOptions = {
  limit: { default: 100, min: 1, max: 10_000, unit: 'timers' },
} as const satisfies OptionTable;

export const strategyOptions = {
  intervalMs: { default: 100, min: 1, max: 60_000, unit: 'milliseconds' },
  maxQueued: { default: 1000, min: 1, max: 100_000, unit: 'units' },
} as const satisfies OptionTable;

export type OptionTable = Readonly<Record<string, NumberOption>>;

export type GivenOptions<T extends OptionTable> = { readonly [K in keyof T]?: number | undefined };

export type ResolvedOptions<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly default: number } ? number : number | undefined;
};

/** Applies defaults, then checks bounds. Keys that are neither in the table nor in `others` are refused. */
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

/** The refusal of an option. `fact` is a clause of its own: `pool is a single client`. */
export function invalidOption(owner: string, option: string, fact: string, hint: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', { message: `${owner}: ${fact}.`, hint, details: { option } });
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
      hint: near === undefined ? `Known options: ${[...known].sort().join(', ')}.` : `Did you mean ${near}?`,
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

/** The Levenshtein distance: how many letters to insert, remove or replace. */
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
