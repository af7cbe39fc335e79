import { QueueingStrategy, type StrategyOptions } from './queueing-strategy.js';

/** At once. Idle, that is a call per message; under load what arrives during a call rides on the next. */
export class ImmediateStrategy extends QueueingStrategy {
  protected readonly pauseMs = 100;

  constructor(options: StrategyOptions) {
    super('immediate', options);
  }

  protected queued(): void {
    this.startRun();
  }
}
