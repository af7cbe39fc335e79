// Which messages may be handled with others in one transaction.
// In: a message and its receptors, how long receptors and commits take, groups that were rolled back. Out: yes or no.
// Called by the group runner and the task runner. Messages that share a transaction wait for each other and
// fail together, so only quick messages without a failure or an interruption share one.
import { WorkBatchFlags, type WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';

/**
 * Limits for sharing: what takes much longer than to complete and commit gains little and delays others. That takes a few
 * milliseconds, and more where PostgreSQL is busy or far away, where the statements of a receptor take longer too.
 */
const quickMs = 10;
const quickCommits = 2;
/** Weight of one run in an average: a single slow run, such as the first, changes little. */
const weight = 1 / 8;
const slowestMs = 4 * quickMs;
/** After a rollback, the receptors of a group run alone 20 times as long as it took: it costs 5 % at most. */
const aloneTimes = 20;
const longestAloneMs = 60_000;

interface Pace {
  averageMs: number;
  aloneUntil: number;
}

export class Sharing<Tx> {
  readonly #paces = new Map<Receptor<Tx>, Pace>();
  #commitMs = 0;

  allows(item: WorkItem, receptors: readonly Receptor<Tx>[]): boolean {
    const [receptor] = receptors;
    if (receptor === undefined || receptors.length > 1) return false;
    if (!receptor.transactional || receptor.alone || receptor.batch) return false;
    if (item.attempts > 0 || (item.flags & WorkBatchFlags.Orphaned) !== 0) return false;
    const { averageMs, aloneUntil } = this.#paceOf(receptor);
    return averageMs <= Math.max(quickMs, quickCommits * this.#commitMs) && aloneUntil <= performance.now();
  }

  took(receptor: Receptor<Tx>, milliseconds: number): void {
    const pace = this.#paceOf(receptor);
    pace.averageMs = averaged(pace.averageMs, milliseconds);
  }

  /** Notes how long it took to complete the messages of a transaction and to commit it. */
  committed(milliseconds: number): void {
    this.#commitMs = averaged(this.#commitMs, milliseconds);
  }

  /** Notes that a transaction shared by these receptors was rolled back after this time. */
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

function averaged(averageMs: number, milliseconds: number): number {
  return averageMs + (Math.min(milliseconds, slowestMs) - averageMs) * weight;
}
