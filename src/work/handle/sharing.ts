// Which messages may be handled with others in one transaction.
// In: a message and its receptors, how long receptors take, groups that came to nothing. Out: yes or no.
// Asked by the receptor runner. What shares a transaction waits for its company and fails with it, so only those do that
// are quick and have given no trouble.
import { WorkBatchFlags, type WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';

/** A commit takes a few milliseconds: who takes longer gains little by sharing one, and keeps the others waiting. */
const quickMs = 10;
/** So slowly a receptor's average follows: a single run that was slow, the very first perhaps, changes little. */
const weight = 1 / 8;
const slowestMs = 4 * quickMs;
/** So many times as long as a group took that came to nothing, its receptors run alone: it costs a twentieth at most. */
const aloneTimes = 20;
const longestAloneMs = 60_000;

interface Pace {
  averageMs: number;
  aloneUntil: number;
}

export class Sharing<Tx> {
  readonly #paces = new Map<Receptor<Tx>, Pace>();

  allows(item: WorkItem, receptors: readonly Receptor<Tx>[]): boolean {
    const [receptor] = receptors;
    if (receptor === undefined || receptors.length > 1) return false;
    if (!receptor.transactional || receptor.alone) return false;
    if (item.attempts > 0 || (item.flags & WorkBatchFlags.Orphaned) !== 0) return false;
    const { averageMs, aloneUntil } = this.#paceOf(receptor);
    return averageMs <= quickMs && aloneUntil <= performance.now();
  }

  took(receptor: Receptor<Tx>, milliseconds: number): void {
    const pace = this.#paceOf(receptor);
    pace.averageMs += (Math.min(milliseconds, slowestMs) - pace.averageMs) * weight;
  }

  /** A transaction that these shared has come to nothing after so long. */
  failed(receptors: Iterable<Receptor<Tx>>, milliseconds: number): void {
    const aloneUntil = performance.now() + Math.min(milliseconds * aloneTimes, longestAloneMs);
    for (const receptor of receptors) this.#paceOf(receptor).aloneUntil = aloneUntil;
  }

  #paceOf(receptor: Receptor<Tx>): Pace {
    const pace = this.#paces.get(receptor) ?? { averageMs: 0, aloneUntil: 0 };
    this.#paces.set(receptor, pace);
    return pace;
  }
}
