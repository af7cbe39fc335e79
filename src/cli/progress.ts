/** How many so far, and of how many, in one line on a terminal that is written again; nothing in a pipe. It ends without a trace. */
export class Progress {
  readonly #what: string;
  readonly isShown = process.stderr.isTTY === true;
  /** In words, if it is known. */
  total: string | undefined;

  constructor(what: string) {
    this.#what = what;
  }

  show(count: number): void {
    const of = this.total === undefined ? '' : ` of ${this.total}`;
    if (this.isShown) process.stderr.write(`\r\u001b[K${count}${of} ${this.#what}`);
  }

  end(): void {
    if (this.isShown) process.stderr.write('\r\u001b[K');
  }
}

/** For how long it has been at it, where the end cannot be known: in one line on a terminal, nothing in a pipe, gone when it is done. */
export async function withElapsed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const progress = new Progress(`s: ${what}`);
  const begun = performance.now();
  const timer = setInterval(() => progress.show(Math.round((performance.now() - begun) / 1_000)), 1_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    progress.end();
  }
}
