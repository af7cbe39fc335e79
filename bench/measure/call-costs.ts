// The cost of single calls, in milliseconds, taken in turns: probe A, probe B, probe A, …
// A probe makes one timed call, and any untimed preparation for the next one.

import { median, pairedRatios, quantile, spread } from './statistics.js';

/** Takes one measurement: the milliseconds of the call in question. */
export type Probe = () => Promise<number>;

export async function takeTurns(probes: readonly Probe[], rounds: number, warmUp = 10): Promise<number[][]> {
  const costs: number[][] = probes.map(() => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [i, probe] of probes.entries()) {
      const milliseconds = await probe();
      if (round >= 0) costs[i]?.push(milliseconds);
    }
  }
  return costs;
}

/**
 * The cost of the first kind of call as a multiple of the second. Single calls are noisy, so the rounds are
 * cut into ten groups; a group's ratio is that of its medians, and the spread is over the groups.
 */
export function costRatio(costs: readonly number[], reference: readonly number[]) {
  const groupSize = Math.max(1, Math.floor(costs.length / 10));
  const groupMedians = (values: readonly number[]) =>
    Array.from({ length: Math.floor(values.length / groupSize) }, (_, i) =>
      median(values.slice(i * groupSize, (i + 1) * groupSize)),
    );
  const ratios = pairedRatios(groupMedians(costs), groupMedians(reference));
  return { value: median(ratios), spread: spread(ratios) };
}

export function describeCost(costs: readonly number[]): string {
  return `${median(costs).toFixed(2)} ms (p95 ${quantile(costs, 0.95).toFixed(2)})`;
}

export async function timed<T>(work: () => Promise<T>): Promise<[result: T, milliseconds: number]> {
  const start = performance.now();
  const result = await work();
  return [result, performance.now() - start];
}
