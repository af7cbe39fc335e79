// The limit of a receptor: how many of its messages are handled at once, and how many in a time.
import { invalidOption, rateOptions, receptorOptions, resolveOptions } from '../options.js';

/** How many messages may be begun in any time of this length. */
export interface Rate {
  readonly count: number;
  readonly perSeconds: number;
}

/** The options of a receptor that limit it. */
export interface LimitOptions<Output = unknown> {
  /** How many of its messages are handled at once. Default: as many as the instance handles. */
  readonly concurrency?: number | undefined;
  /** How many of its messages may be begun in any time of this length. Default: no limit. */
  readonly rate?: Rate | undefined;
  /** Whether the limits hold for each instance by itself, or over all of them. Default: `'instance'`. */
  readonly across?: 'instance' | 'instances' | undefined;
  /** The key of a message. The limits then hold for each key by itself. Default: one limit for all. */
  readonly key?: ((payload: Output) => string) | undefined;
}

/** The checked limit of a receptor. */
export interface ReceptorLimit {
  readonly concurrency: number | undefined;
  readonly rate: Rate | undefined;
  readonly isAcross: boolean;
  readonly key: ((payload: unknown) => string) | undefined;
}

export const limitOptions = ['rate', 'across', 'key'] as const;

/** Checks the options. Returns undefined when they limit nothing. */
export function resolveLimit(
  owner: string,
  given: Readonly<Record<string, unknown>>,
): ReceptorLimit | undefined {
  const { rate, across = 'instance', key } = given;
  const { concurrency } = resolveOptions(
    owner,
    { concurrency: receptorOptions.concurrency },
    {
      concurrency: given.concurrency,
    },
  );
  if (across !== 'instance' && across !== 'instances')
    throw invalidOption(owner, 'across', `across is ${show(across)}`, "Give 'instance' or 'instances'.");
  if (key !== undefined && typeof key !== 'function')
    throw invalidOption(
      owner,
      'key',
      'key is not a function',
      'For example key: ({ tenantId }) => tenantId.',
    );
  if (concurrency === undefined && rate === undefined) {
    const useless = ['key', 'across'].find((option) => given[option] !== undefined);
    if (useless === undefined) return undefined;
    const hint = 'Give concurrency or rate with it, or leave it out.';
    throw invalidOption(owner, useless, `${useless} is given, and there is nothing to limit`, hint);
  }
  return Object.freeze({
    concurrency,
    rate: rate === undefined ? undefined : resolveRate(owner, rate),
    isAcross: across === 'instances',
    key: key as ReceptorLimit['key'],
  });
}

function resolveRate(owner: string, rate: unknown): Rate {
  if (typeof rate !== 'object' || rate === null)
    throw invalidOption(owner, 'rate', 'rate is not an object', hintOfRate);
  const { count, perSeconds } = resolveOptions(`${owner} rate`, rateOptions, { ...rate });
  if (count === undefined || perSeconds === undefined) {
    const missing = count === undefined ? 'rate.count' : 'rate.perSeconds';
    throw invalidOption(owner, missing, `${missing} is missing`, hintOfRate);
  }
  return Object.freeze({ count, perSeconds });
}

const hintOfRate = 'For example rate: { count: 10, perSeconds: 1 }.';
const show = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value) : String(value));
