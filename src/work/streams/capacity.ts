/** As long as this it should take to handle what is held: then a call brings much, and nothing waits long behind others. */
const windowMs = 200;

/**
 * How many messages an instance holds at most: as many as it handles in a moment, between the two bounds. What is handled quickly comes in
 * large portions, which cost less each; of what takes long, little waits here while other instances could run it.
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
