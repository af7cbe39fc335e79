// Small numbers from many measurements. Medians, because one checkpoint or one other process on the machine
// makes a mean meaningless.

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], fraction: number): number {
  if (values.length === 0) throw new Error('a quantile needs at least one measurement');
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export function spread(values: readonly number[]): [low: number, high: number] {
  return [Math.min(...values), Math.max(...values)];
}

/**
 * Ratios of measurements taken next to each other in time, so that other activity of the machine cancels out.
 */
export function pairedRatios(numerators: readonly number[], denominators: readonly number[]): number[] {
  return numerators.map((numerator, i) => numerator / (denominators[i] ?? Number.NaN));
}
