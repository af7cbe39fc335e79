import type { WhizbangError } from '../errors.js';
import type { WorkBatch } from '../message.js';
import { noWork, type Run } from './run.js';
import type { WorkUnit } from './strategy.js';
import { sizeOf } from './work-unit.js';

/** A unit in a call, and the run it belongs to. */
export interface Entry {
  readonly unit: WorkUnit;
  readonly run: Run;
}

/** One call: the units in it, their runs, and what each run gets when it has ended. */
export class Call {
  readonly entries: Entry[] = [];
  readonly #runs: Run[] = [];
  /** The runs whose last units are in it. Only the last run of a call may not end here. */
  readonly #ending: Run[] = [];
  /**
   * The runs that take work. Only a run that ends here may: the
   * work of an earlier call would be lost if a later one failed.
   */
  readonly #receivers: readonly Run[];
  #work: WorkBatch = noWork;

  /** Takes from the front of the line what fits. A unit that is bigger than a call is sent alone. */
  constructor(line: readonly Run[], maxItems: number) {
    let size = 0;
    for (const run of line) {
      if (size >= maxItems) break;
      this.#runs.push(run);
      for (let unit = run.next; unit !== undefined; unit = run.next) {
        size += sizeOf(unit);
        if (size > maxItems && this.entries.length > 0) break;
        this.entries.push({ unit, run });
        run.take();
      }
      if (run.next !== undefined) break;
      this.#ending.push(run);
    }
    this.#receivers = this.#ending.filter((run) => run.takesWork);
  }

  /** How many runs at the front of the line have units in it. */
  get runCount(): number {
    return this.#runs.length;
  }

  /** How many of them end with it. */
  get endingCount(): number {
    return this.#ending.length;
  }

  get takesWork(): boolean {
    return this.#receivers.length > 0;
  }

  /** Whether there is no reason to make it. */
  get isEmpty(): boolean {
    return this.entries.length === 0 && !this.takesWork;
  }

  /** How many messages it stores. */
  get newCount(): number {
    return this.entries.reduce(
      (count, { unit }) =>
        count + (unit.newOutboxMessages?.length ?? 0) + (unit.newInboxMessages?.length ?? 0),
      0,
    );
  }

  /** Takes the answer to the call, or to a part of it. Only the last part has asked for work. */
  answered(batch: WorkBatch): void {
    this.#work = batch;
    for (const run of this.#runs) run.leaseLost.push(...batch.leaseLost);
  }

  /**
   * Finishes the runs that end here. `givesWork`: the first run that takes work gets all
   * items. Otherwise `onBatch` has received them, so that every item has exactly one receiver.
   */
  finish({ givesWork }: { givesWork: boolean }): void {
    for (const run of this.#ending) run.finish(givesWork && run === this.#receivers[0] ? this.#work : noWork);
  }

  /**
   * Fails the runs of the call. A run whose units were all settled
   * before the error is finished instead, unless it takes work.
   */
  fail(error: WhizbangError): void {
    for (const run of this.#runs) {
      if (run.isSettled && !this.#receivers.includes(run)) run.finish(noWork);
      else run.fail(error);
    }
  }
}
