// Full load by several instances at once. Each completes what it holds, stores a share of new messages and
// takes what it is given. As many messages are under way as there are instances times the batch size, so that
// the load neither runs out nor accumulates. When the time is up nothing more is stored, and the slice ends
// when all that was stored is completed.

import { setTimeout } from 'node:timers/promises';
import type { Slice } from '../contenders/contender.js';
import type { NextBatch } from '../messages.js';
import { type BenchInstance, idsOf } from '../work-batch.js';

/**
 * The longest pause of an instance that was given nothing. It pauses as a worker does that was woken without
 * work (src/work/loop/rest.ts): 1 ms at first, then twice as long each time, until it is given something
 * again.
 */
const longestPauseMs = 16;

export async function repeatUntilDone(
  instances: readonly BenchInstance[],
  nextBatch: NextBatch,
  batchSize: number,
  milliseconds: number,
): Promise<Slice> {
  const start = performance.now();
  const underWayLimit = instances.length * batchSize;
  let stored = 0;
  let completed = 0;
  const over = new AbortController();

  const work = async (instance: BenchInstance) => {
    let held: string[] = [];
    let pauseMs = 0;
    for (;;) {
      const storing = performance.now() - start < milliseconds;
      if (!storing && stored === completed) {
        over.abort();
        return;
      }
      // What this call completes makes room for as many new messages.
      const room = underWayLimit - (stored - completed - held.length);
      const store = storing ? nextBatch(Math.max(0, Math.min(batchSize, room))) : [];
      stored += store.length;
      const completing = held;
      held = idsOf(await instance.call({ complete: completing, store, take: batchSize }));
      completed += completing.length;
      pauseMs = held.length > 0 ? 0 : Math.min(Math.max(pauseMs * 2, 1), longestPauseMs);
      if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal: over.signal }).catch(() => {});
    }
  };

  await Promise.all(instances.map(work));
  return { messages: completed, elapsedMs: performance.now() - start };
}
