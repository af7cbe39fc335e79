// Takes messages through a whole service: sent in batches of 100, with a limit on those under way, until a
// given number was handled and nothing is left in the database. Used by the questions about whole services
// and memory; it takes no times itself.

import type { NextBatch } from '../messages.js';
import type { BenchServer } from '../server.js';
import { RunningService, type ServiceOptions } from './running-service.js';
import { Tally } from './tally.js';

const batchSize = 100;

interface SteadyLoadOptions extends Omit<ServiceOptions, 'onHandled'> {
  /** The most messages under way. Default: 2 000. */
  readonly mostUnderWay?: number;
  /** How many batches are sent without waiting for each other. Default: 1. */
  readonly batchesAtOnce?: number;
  /** The rest of the handler. */
  readonly onHandled?: ServiceOptions['onHandled'];
}

export class SteadyLoad {
  readonly service: RunningService;
  readonly #nextBatch: NextBatch;
  readonly #mostUnderWay: number;
  readonly #batchesAtOnce: number;
  readonly #handled: Tally;
  #sent = 0;

  private constructor(
    service: RunningService,
    nextBatch: NextBatch,
    { mostUnderWay = 2_000, batchesAtOnce = 1 }: SteadyLoadOptions,
    handled: Tally,
  ) {
    this.service = service;
    this.#nextBatch = nextBatch;
    this.#mostUnderWay = mostUnderWay;
    this.#batchesAtOnce = batchesAtOnce;
    this.#handled = handled;
  }

  static async open(
    server: BenchServer,
    nextBatch: NextBatch,
    { onHandled, ...options }: SteadyLoadOptions,
  ): Promise<SteadyLoad> {
    const handled = new Tally();
    const service = await RunningService.open(server, {
      ...options,
      onHandled: (...message) => {
        handled.add();
        return onHandled?.(...message);
      },
    });
    return new SteadyLoad(service, nextBatch, options, handled);
  }

  /** Takes this many messages through, and resolves when they are also completed. */
  async take(count: number): Promise<number> {
    const goal = this.#sent + count;
    while (this.#sent < goal) {
      const sending: Promise<void>[] = [];
      while (this.#sent < goal && sending.length < this.#batchesAtOnce) {
        const batch = this.#nextBatch(Math.min(batchSize, goal - this.#sent));
        this.#sent += batch.length;
        sending.push(this.service.send(batch));
      }
      await Promise.all(sending);
      await this.#handled.reaches(this.#sent - this.#mostUnderWay);
    }
    await this.#handled.reaches(goal);
    await this.#untilCompleted();
    if (this.#handled.count !== goal) throw new Error(`${this.#handled.count} handled instead of ${goal}`);
    return count;
  }

  async close(): Promise<void> {
    await this.service.close();
  }

  async #untilCompleted(): Promise<void> {
    const left = 'select from wh_inbox union all select from wh_outbox limit 1';
    while ((await this.service.client.query(left)).rowCount !== 0) {}
  }
}
