// Full load by several instances at once. Each completes what it holds, stores a share of new messages and
// takes what it is given. As many messages are under way as there are instances times the batch size, so
// that the load neither runs dry nor piles up. When the time is up nothing more is stored, and the slice
// ends when all that was stored is completed.

import type { Slice } from '../contenders/contender.js';
import type { NextBatch } from '../messages.js';
import type { BenchInstance } from '../work-batch.js';
import { idsOf } from '../work-batch.js';

/** Stands in for the wake-up by NOTIFY of an instance that was given nothing. */
const emptyHandedMs = 2;

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

  const work = async (instance: BenchInstance) => {
    let held: string[] = [];
    for (;;) {
      const storing = performance.now() - start < milliseconds;
      if (!storing && stored === completed) return;
      // What is completed by this very call makes room for as many new ones.
      const room = underWayLimit - (stored - completed - held.length);
      const store = storing ? nextBatch(Math.max(0, Math.min(batchSize, room))) : [];
      stored += store.length;
      const completing = held;
      held = idsOf(await instance.call({ complete: completing, store, take: batchSize }));
      completed += completing.length;
      if (held.length === 0) await new Promise((resolve) => setTimeout(resolve, emptyHandedMs));
    }
  };

  await Promise.all(instances.map(work));
  return { messages: completed, elapsedMs: performance.now() - start };
}
