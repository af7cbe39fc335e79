import type { ResolvedOptions, strategyOptions } from '../options.js';

/** When a strategy begins a run of its queue by itself. */
export interface When {
  /**
   * How soon a run begins after a unit was queued, when so many
   * wait. 0: at once. Undefined: only by `flush` and `dispose`.
   */
  readonly delayMs: (queuedCount: number, isFailing: boolean) => number | undefined;
  /**
   * How long after a failed run the next begins by itself.
   * The pause doubles with each failure. Undefined: never.
   */
  readonly pauseMs: number | undefined;
}

type Numbers = ResolvedOptions<typeof strategyOptions>;

/** The strategies, by name. */
export const strategies = {
  /**
   * Sends at once. When idle, that is one call per message.
   * Under load, what arrives during a call goes with the next.
   */
  immediate: (): When => ({ delayMs: () => 0, pauseMs: 100 }),

  /**
   * Sends at the end of a scope, such as a request: one call for all
   * that it has queued. Nothing is sent before `flush` or `dispose`.
   */
  scoped: (): When => ({ delayMs: () => undefined, pauseMs: undefined }),

  /**
   * Sends `intervalMs` after the first unit was queued, or when
   * `maxQueued` units wait. Makes no call while nothing is queued.
   */
  interval: ({ intervalMs, maxQueued }: Numbers): When => ({
    // While calls fail, only the timer retries: a full queue would otherwise cause a retry per message.
    delayMs: (queuedCount, isFailing) => (queuedCount >= maxQueued && !isFailing ? 0 : intervalMs),
    pauseMs: intervalMs,
  }),
} as const satisfies Record<string, (numbers: Numbers) => When>;

/** The name of a strategy, which decides when a batch is sent. */
export type StrategyName = keyof typeof strategies;
