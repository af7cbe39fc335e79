/** Time to handle what is held: then a call brings many messages, and none waits long behind others. */
const windowMs = 200;

/**
 * Largest number of messages that an instance holds: as many as it handles within `windowMs`, between two
 * bounds. Quick messages come in large batches, which cost less per message. Few slow messages wait here
 * while other instances could run them.
 */
export class Capacity {
  readonly #least: number;
  readonly #most: number;
  #handled = 0;
  #since = performance.now();
  #now: number;

  constructor(least: number, most: number) {
    this.#least = Math.min(least, most);
    this.#most = most;
    this.#now = this.#least;
  }

  handled(): void {
    this.#handled++;
  }

  get(): number {
    const elapsedMs = performance.now() - this.#since;
    if (elapsedMs >= windowMs) {
      const pace = (this.#handled / elapsedMs) * windowMs;
      this.#now = Math.round(Math.min(Math.max(pace, this.#least), this.#most));
      this.#handled = 0;
      this.#since += elapsedMs;
    }
    return this.#now;
  }
}
