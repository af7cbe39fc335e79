import type { ResolvedOptions, strategyOptions } from '../options.js';

/** When a strategy begins a run of its queue by itself. */
export interface When {
  /** A unit was queued, and so many wait: how soon a run begins. 0: at once. Undefined: only by `flush` and `dispose`. */
  readonly delayMs: (queuedCount: number, isFailing: boolean) => number | undefined;
  /** How long after a failed run the next begins by itself; the pause doubles with each failure. Undefined: never. */
  readonly pauseMs: number | undefined;
}

type Numbers = ResolvedOptions<typeof strategyOptions>;

/** The strategies there are. */
export const strategies = {
  /** At once. Idle, that is a call per message; under load what arrives during a call rides on the next. */
  immediate: (): When => ({ delayMs: () => 0, pauseMs: 100 }),

  /** At the end of a scope, such as a request: one call for all it has queued. Nothing leaves before `flush` or `dispose`. */
  scoped: (): When => ({ delayMs: () => undefined, pauseMs: undefined }),

  /** `intervalMs` after the first unit was queued, or when `maxQueued` wait. While nothing is queued no call is made. */
  interval: ({ intervalMs, maxQueued }: Numbers): When => ({
    // While calls fail the next try is the timer's: a full queue would otherwise mean a try per message.
    delayMs: (queuedCount, isFailing) => (queuedCount >= maxQueued && !isFailing ? 0 : intervalMs),
    pauseMs: intervalMs,
  }),
} as const satisfies Record<string, (numbers: Numbers) => When>;

/** When a batch leaves. */
export type StrategyName = keyof typeof strategies;
