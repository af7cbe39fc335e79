import { QueueingStrategy, type StrategyOptions } from './queueing-strategy.js';

/** `intervalMs` after the first unit was queued, or when `maxQueued` wait. While nothing is queued no call is made. */
export class IntervalStrategy extends QueueingStrategy {
  protected readonly pauseMs = this.options.intervalMs;

  constructor(options: StrategyOptions) {
    super('interval', options);
  }

  protected queued(): void {
    // While calls fail the next try is the timer's: a full queue would otherwise mean a try per message.
    if (this.queuedCount >= this.options.maxQueued && !this.isFailing) this.startRun();
    else this.runWithin(this.pauseMs);
  }
}
