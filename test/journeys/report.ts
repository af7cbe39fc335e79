import type { Stall } from './progress.js';

/** Prints for how long there was no progress: a journey reports it, and asserts only that nothing is lost or out of order. */
export function reportStalls(journey: string, stalls: readonly Stall[]): void {
  const lines = stalls.map(
    ({ after, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s without progress after ${after}`,
  );
  console.info([`${journey}:`, ...lines].join('\n'));
}
