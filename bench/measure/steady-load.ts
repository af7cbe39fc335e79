// Messages through a whole service: published in batches of 100, at most so many under way, until so many were handled and
// nothing is left in the database. Used by the questions about throughput and memory; it takes no times itself.

import { EventEmitter, once } from 'node:events';
import type { NextBatch } from '../messages.js';
import type { BenchServer } from '../server.js';
import { orderOf, RunningService, type ServiceOptions } from './running-service.js';

const batchSize = 100;
const mostUnderWay = 2_000;

export class SteadyLoad {
  readonly service: RunningService;
  readonly #nextBatch: NextBatch;
  readonly #progress: EventEmitter;
  readonly #handled: () => number;
  #published = 0;

  private constructor(
    service: RunningService,
    nextBatch: NextBatch,
    progress: EventEmitter,
    handled: () => number,
  ) {
    this.service = service;
    this.#nextBatch = nextBatch;
    this.#progress = progress;
    this.#handled = handled;
  }

  static async open(
    server: BenchServer,
    nextBatch: NextBatch,
    options: Omit<ServiceOptions, 'onHandled'>,
  ): Promise<SteadyLoad> {
    const progress = new EventEmitter();
    let handled = 0;
    const service = await RunningService.open(server, {
      ...options,
      onHandled: () => {
        handled++;
        progress.emit('handled');
      },
    });
    return new SteadyLoad(service, nextBatch, progress, () => handled);
  }

  /** Takes so many messages through, and resolves when they are completed as well. */
  async take(count: number): Promise<number> {
    const goal = this.#published + count;
    while (this.#published < goal) {
      const batch = this.#nextBatch(Math.min(batchSize, goal - this.#published));
      this.#published += batch.length;
      await this.service.first.publish(batch.map(orderOf));
      await this.#untilHandled(this.#published - mostUnderWay);
    }
    await this.#untilHandled(goal);
    await this.#untilCompleted();
    if (this.#handled() !== goal) throw new Error(`${this.#handled()} handled instead of ${goal}`);
    return count;
  }

  async close(): Promise<void> {
    await this.service.close();
  }

  async #untilHandled(count: number): Promise<void> {
    while (this.#handled() < count) await once(this.#progress, 'handled');
  }

  async #untilCompleted(): Promise<void> {
    const left = 'select from wh_inbox union all select from wh_outbox limit 1';
    while ((await this.service.client.query(left)).rowCount !== 0) {}
  }
}
