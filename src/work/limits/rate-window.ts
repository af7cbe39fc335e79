import type { Rate } from '../../receptors/index.js';

/** At most so many times are kept. Where more may come, those within a hundredth of the time count together. */
const mostTimes = 100;

/** The beginnings of the last `perSeconds`: there are never more than `count` in any time of that length. */
export class RateWindow {
  readonly #count: number;
  readonly #perMs: number;
  readonly #grainMs: number;
  readonly #begun: { at: number; count: number }[] = [];
  #used = 0;

  constructor({ count, perSeconds }: Rate) {
    this.#count = count;
    this.#perMs = perSeconds * 1000;
    this.#grainMs = count > mostTimes ? this.#perMs / mostTimes : 0;
  }

  /** How many may begin now. */
  room(now: number): number {
    this.#forget(now);
    return this.#count - this.#used;
  }

  /** In how many milliseconds one may begin. Zero: now. */
  waitMs(now: number): number {
    if (this.room(now) > 0) return 0;
    const first = this.#begun[0];
    return first === undefined ? 0 : Math.max(first.at + this.#grainMs + this.#perMs - now, 1);
  }

  begin(now: number): void {
    const last = this.#begun.at(-1);
    if (last !== undefined && now < last.at + this.#grainMs) last.count++;
    else this.#begun.push({ at: now, count: 1 });
    this.#used++;
  }

  #forget(now: number): void {
    let first = this.#begun[0];
    while (first !== undefined && first.at + this.#grainMs + this.#perMs <= now) {
      this.#used -= first.count;
      this.#begun.shift();
      first = this.#begun[0];
    }
  }
}
