import type { WhizbangError } from '../errors.js';
import type { LostLease, WorkBatch } from '../message.js';
import type { WorkUnit } from './strategy.js';

/** What `CallLine.run` resolves to. */
export interface RunResult {
  /** The work handed out to this run, and every lost lease of the calls it rode on. */
  readonly batch: WorkBatch;
  /** Units that the database refused, each for itself. Everything else of the run is committed. */
  readonly refused: ReadonlyMap<WorkUnit, WhizbangError>;
}

/** What becomes of each unit, told before the next call is put together. Its methods must not throw. */
export interface Fate {
  carried(unit: WorkUnit): void;
  refused(unit: WorkUnit, error: WhizbangError): void;
  /** The run rejects, and these were not committed, or nobody knows: in their order. */
  unsent(units: readonly WorkUnit[]): void;
}

/** Options of `CallLine.run`. */
export interface RunOptions {
  /**
   * Whether somebody looks at the batch. Asked when a call is put together. Who does not look must not be given
   * work: it would be leased and lie there until the lease ends. Default: yes.
   */
  readonly takesWork?: () => boolean;
  readonly fate?: Fate;
}

export const noWork: WorkBatch = Object.freeze({ outbox: [], inbox: [], perspectives: [], leaseLost: [] });

/** Units that ride together, on one call or on several in a row, and the promise that waits for them. */
export class Run {
  readonly finished: Promise<RunResult>;
  readonly leaseLost: LostLease[] = [];
  readonly #refused = new Map<WorkUnit, WhizbangError>();
  readonly #source: () => readonly WorkUnit[];
  readonly #options: RunOptions;
  /** Undefined until its first call is put together. */
  #units: readonly WorkUnit[] | undefined;
  /** How many of them are, or were, in a call. */
  #boarded = 0;
  /** How many have left it, their fate known. They leave in their order. */
  #settled = 0;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: Error) => void;

  constructor(source: () => readonly WorkUnit[], options: RunOptions) {
    this.#source = source;
    this.#options = options;
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get takesWork(): boolean {
    return this.#options.takesWork?.() ?? true;
  }

  /** The first unit that no call has had yet. */
  get next(): WorkUnit | undefined {
    return this.#all()[this.#boarded];
  }

  get isSettled(): boolean {
    return this.#settled === this.#all().length;
  }

  board(): void {
    this.#boarded++;
  }

  carried(unit: WorkUnit): void {
    this.#settled++;
    this.#options.fate?.carried(unit);
  }

  refuse(unit: WorkUnit, error: WhizbangError): void {
    this.#settled++;
    this.#refused.set(unit, error);
    this.#options.fate?.refused(unit, error);
  }

  finish(work: WorkBatch): void {
    this.#resolve({ batch: { ...work, leaseLost: this.leaseLost }, refused: this.#refused });
  }

  fail(error: WhizbangError): void {
    this.#options.fate?.unsent(this.#all().slice(this.#settled));
    this.#reject(error);
  }

  #all(): readonly WorkUnit[] {
    if (this.#units !== undefined) return this.#units;
    try {
      this.#units = [...this.#source()];
    } catch (error) {
      this.#units = [];
      this.#reject(error as Error); // no other run may suffer from it
    }
    return this.#units;
  }
}
