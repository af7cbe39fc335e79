// The live memory of this process after a full garbage collection, and the memory that the process occupies.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export interface LiveMemory {
  /** Objects and the memory they own outside the heap, in bytes. */
  readonly heap: number;
  readonly resident: number;
}

export async function liveMemory(): Promise<LiveMemory> {
  // Collected twice, with a turn of the event loop between: finalizers release more.
  for (let i = 0; i < 2; i++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}
