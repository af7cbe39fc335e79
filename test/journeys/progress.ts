import type pg from 'pg';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.js';

/** The longest time without an effect after something happened. */
export interface Stall {
  readonly after: string;
  readonly seconds: number;
}

const lookMs = 100;
/** A busy machine is slow. What stands still for so long does not go on any more. */
const patienceMs = 180_000;

/** Looks again and again how many effects there are. */
export class Progress implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #timer: NodeJS.Timeout;
  /** Times at which there was a new effect. */
  readonly #times: number[] = [];
  readonly #marks: { readonly name: string; readonly at: number }[] = [];
  #looking: Promise<void> | undefined;
  effects = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, lookMs);
  }

  mark(name: string): void {
    this.#marks.push({ name, at: performance.now() });
  }

  /** Waits until there are so many effects, for as long as there are new ones. */
  async untilReached(count: number): Promise<void> {
    while (this.effects < count) {
      const seen = this.effects;
      await eventually(() => expect(this.effects).toBeGreaterThan(seen), patienceMs);
    }
  }

  stalls(): readonly Stall[] {
    return this.#marks.map(({ name, at }, i) => {
      const end = this.#marks[i + 1]?.at ?? performance.now();
      const times = [at, ...this.#times.filter((time) => time > at && time < end)];
      const gaps = times.map((time, k) => (times[k + 1] ?? time) - time);
      return { after: name, seconds: Math.round(Math.max(...gaps) / 100) / 10 };
    });
  }

  /** The count, not the highest number: numbers are skipped by what is rolled back and by a failover. */
  async #look(): Promise<void> {
    const answer = await this.#pool
      .query('select count(*)::int as effects from effects')
      .catch(() => undefined);
    const effects = (answer?.rows[0]?.effects as number | undefined) ?? this.effects;
    if (effects > this.effects) this.#times.push(performance.now());
    this.effects = Math.max(effects, this.effects);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }
}
