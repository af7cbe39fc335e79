import type { WhizbangError } from '../errors.js';
import type { WorkBatch } from '../message.js';
import { noWork, type Run } from './run.js';
import type { WorkUnit } from './strategy.js';
import { sizeOf } from './work-unit.js';

/** A unit in a call, and the run it belongs to. */
export interface Seat {
  readonly unit: WorkUnit;
  readonly run: Run;
}

/** One call: the units in it, their runs, and what each run gets when it has ended. */
export class Call {
  readonly seats: Seat[] = [];
  /** Every run that takes part in it. */
  readonly #runs = new Set<Run>();
  /** The runs whose last units are in it. */
  readonly #ending: Run[] = [];
  /**
   * The runs that take work. Only a run that ends here may: the
   * work of an earlier call would be lost if a later one failed.
   */
  readonly #takers: readonly Run[];
  #work: WorkBatch = noWork;

  /** Takes from the front of the line what fits. A unit that is bigger than a call is sent alone. */
  constructor(line: readonly Run[], maxItems: number) {
    let size = 0;
    for (const run of line) {
      if (size >= maxItems) break;
      this.#runs.add(run);
      for (let unit = run.next; unit !== undefined; unit = run.next) {
        size += sizeOf(unit);
        if (size > maxItems && this.seats.length > 0) break;
        this.seats.push({ unit, run });
        run.board();
      }
      if (run.next !== undefined) break;
      this.#ending.push(run);
    }
    this.#takers = this.#ending.filter((run) => run.takesWork);
  }

  /** How many runs at the front of the line end with it. */
  get endingCount(): number {
    return this.#ending.length;
  }

  get takesWork(): boolean {
    return this.#takers.length > 0;
  }

  /** How many messages it stores. */
  get newCount(): number {
    return this.seats.reduce(
      (count, { unit }) =>
        count + (unit.newOutboxMessages?.length ?? 0) + (unit.newInboxMessages?.length ?? 0),
      0,
    );
  }

  carries(run: Run | undefined): boolean {
    return run !== undefined && this.#runs.has(run);
  }

  /** Takes the answer to the call, or to a part of it. Only the last part has asked for work. */
  gather(batch: WorkBatch): void {
    this.#work = batch;
    for (const run of this.#runs) run.leaseLost.push(...batch.leaseLost);
  }

  /**
   * Finishes the runs that end here. `givesWork`: the first run that takes work gets all
   * items. Otherwise `onBatch` has received them, so that every item has exactly one receiver.
   */
  finish({ givesWork }: { givesWork: boolean }): void {
    for (const run of this.#ending) run.finish(givesWork && run === this.#takers[0] ? this.#work : noWork);
  }

  /**
   * Fails the runs of the call. A run whose units were all settled
   * before the error is finished instead, unless it takes work.
   */
  fail(error: WhizbangError): void {
    for (const run of this.#runs) {
      if (run.isSettled && !this.#takers.includes(run)) run.finish(noWork);
      else run.fail(error);
    }
  }
}
