// The shape of a benchmark question. In: a server and the size of the run (full or quick).
// Out: findings, each one ratio with its spread and, where there is one, its bar.
// Called by run.ts, one question after the other. A question never fails because of a timing;
// it throws only when what it measures does not work.

import type { BenchServer } from './server.js';

export interface Bar {
  readonly kind: 'at-least' | 'at-most';
  readonly value: number;
  /**
   * False: the bar is a goal of the project, set before measuring. True: it is set by this benchmark only.
   */
  readonly own?: boolean;
}

export interface Finding {
  readonly setting: string;
  /** The measured value: a ratio, unless `unit` is set. */
  readonly value: number;
  readonly unit?: 'ms';
  /** Lowest and highest of the paired measurements behind `value`. */
  readonly spread?: readonly [low: number, high: number];
  readonly bar?: Bar;
  /** Absolute numbers and remarks: information for people, never compared across runs. */
  readonly info: string;
}

/** A contender that could not be run here. It is reported as such, never replaced by a number. */
export interface Skipped {
  readonly setting: string;
  readonly skipped: string;
}

export interface BenchContext {
  readonly server: BenchServer;
  readonly quick: boolean;
  /** Chooses a size: the full one, or the small one that only checks that the benchmark still runs. */
  size(full: number, quick: number): number;
  /** Prints a line of progress on stderr. */
  progress(line: string): void;
}

export interface Question {
  /** Short name for `--only`; the same as the file's name. */
  readonly name: string;
  readonly asks: string;
  run(context: BenchContext): Promise<readonly (Finding | Skipped)[]>;
}

export function isSkipped(result: Finding | Skipped): result is Skipped {
  return 'skipped' in result;
}

/** Whether a finding met its bar; undefined when it has no bar. */
export function reached({ value, bar }: Finding): boolean | undefined {
  if (bar === undefined) return undefined;
  return bar.kind === 'at-least' ? value >= bar.value : value <= bar.value;
}
