// Runs contenders in short alternating slices: A B C, C B A, A B C, …
// In: runners that work for a given time and return how many messages they took through. Out: per runner, its
// rate in each round. Ratios are then formed within a round (see statistics.ts), so a machine that is slower
// now than a minute ago slows both sides of every ratio.

import type { Runner } from '../contenders/contender.js';
import { median, pairedRatios, spread } from './statistics.js';

export interface Rates {
  /** Messages per second, one entry per round. */
  readonly perRound: readonly number[];
  readonly median: number;
}

interface InterleaveOptions {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly warmUpMs: number;
}

export async function interleave(
  runners: readonly Runner[],
  { rounds, sliceMs, warmUpMs }: InterleaveOptions,
): Promise<Rates[]> {
  for (const runner of runners) await runner.slice(warmUpMs);
  const rates: number[][] = runners.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = runners.map((runner, i) => ({ runner, i }));
    if (round % 2 === 1) order.reverse();
    for (const { runner, i } of order) {
      const slice = await runner.slice(sliceMs);
      rates[i]?.push((slice.messages * 1000) / slice.elapsedMs);
    }
  }
  return rates.map((perRound) => ({ perRound, median: median(perRound) }));
}

/** The median ratio of two contenders over the rounds, with the lowest and the highest round. */
export function ratioOf(
  a: Rates | undefined,
  b: Rates | undefined,
): { value: number; spread: [number, number] } {
  if (a === undefined || b === undefined) throw new Error('both sides of a ratio must have been measured');
  const ratios = pairedRatios(a.perRound, b.perRound);
  return { value: median(ratios), spread: spread(ratios) };
}

export function perSecond(rates: Rates | undefined): string {
  return rates === undefined ? 'not measured' : `${formatCount(rates.median)}/s`;
}

export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US').replaceAll(',', ' ');
}
