/** A count that can be awaited. It costs a handler almost nothing. */
export class Tally {
  count = 0;
  #goal = 0;
  #reached: () => void = () => {};

  add(): void {
    if (++this.count === this.#goal) this.#reached();
  }

  reaches(goal: number): Promise<void> {
    if (this.count >= goal) return Promise.resolve();
    this.#goal = goal;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }
}
