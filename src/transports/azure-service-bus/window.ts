interface Waiting {
  readonly owner: object;
  readonly handOut: () => void;
}

/** Bounds the deliveries that are unacknowledged over all sessions of a receiver. What is above waits here, in order. */
export class Window {
  readonly #limit: number;
  #handedOut = 0;
  #waiting: Waiting[] = [];
  #watchers: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(owner: object, handOut: () => void): void {
    this.#waiting.push({ owner, handOut });
    this.#advance();
  }

  /** One that was handed out is done. */
  release(): void {
    this.#handedOut--;
    this.#advance();
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  /** Forgets what waits of this owner. */
  drop(owner: object): void {
    this.#waiting = this.#waiting.filter((each) => each.owner !== owner);
  }

  get isFull(): boolean {
    return this.#handedOut >= this.#limit;
  }

  /** Resolves when one is released. */
  async change(): Promise<void> {
    await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #advance(): void {
    while (!this.isFull) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#handedOut++;
      next.handOut();
    }
  }
}
