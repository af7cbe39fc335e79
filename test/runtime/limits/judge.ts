// Records what runs at the same time and when it began, by key. It never decides what is too much.
export class Judge {
  readonly begun: { key: string; at: number }[] = [];
  readonly #running = new Map<string, number>();
  readonly #most = new Map<string, number>();

  /** Runs something of a key and records that it ran. */
  async watch<T>(key: string, run: () => Promise<T>): Promise<T> {
    const now = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, now);
    this.#most.set(key, Math.max(this.#most.get(key) ?? 0, now));
    this.begun.push({ key, at: performance.now() });
    try {
      return await run();
    } finally {
      this.#running.set(key, (this.#running.get(key) ?? 1) - 1);
    }
  }

  /** The most that ran at once under a key. */
  most(key = ''): number {
    return this.#most.get(key) ?? 0;
  }

  running(key = ''): number {
    return this.#running.get(key) ?? 0;
  }

  /** The most that began within any time of this length. */
  mostWithin(ms: number, key?: string): number {
    const times = this.begun.filter((each) => key === undefined || each.key === key).map(({ at }) => at);
    return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
  }
}
