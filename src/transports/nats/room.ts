/** How many deliveries may be unacknowledged at one time, over all shards that an instance receives. */
export class Room {
  readonly #max: number;
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes one place. False: there is none; `then` is called once when there is one. */
  take(then: () => void): boolean {
    if (this.#used < this.#max) {
      this.#used++;
      return true;
    }
    this.#waiting.add(then);
    return false;
  }

  giveBack(count: number): void {
    this.#used -= count;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const each of waiting) each();
  }
}
