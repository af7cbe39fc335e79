import { QueueingStrategy, type StrategyOptions } from './queueing-strategy.js';

/** At the end of a scope, such as a request: one call for all it has queued. Nothing leaves before `flush` or `dispose`. */
export class ScopedStrategy extends QueueingStrategy {
  protected readonly pauseMs = undefined;

  constructor(options: StrategyOptions) {
    super('scoped', options);
  }

  protected queued(): void {}
}
