import { serverErrorOf } from '../../database/index.js';

/** The statements of a transaction that were sent and are not answered yet. */
export class StatementsUnderWay {
  readonly #answers = new Set<Promise<unknown>>();

  async add<T>(answer: T | Promise<T>): Promise<T> {
    const waiting = Promise.resolve(answer);
    this.#answers.add(waiting);
    try {
      return await waiting;
    } finally {
      this.#answers.delete(waiting);
    }
  }

  get isEmpty(): boolean {
    return this.#answers.size === 0;
  }

  /** Undefined: none is under way. */
  get nextAnswer(): Promise<unknown> | undefined {
    return this.isEmpty ? undefined : Promise.race(this.#answers);
  }
}

/** Resolves when PostgreSQL has said something, if only no. What a library says by itself is no word of it. */
export function wordOfServer(answer: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    answer.then(
      () => resolve(),
      (error: unknown) => {
        if (serverErrorOf(error) !== undefined) resolve();
      },
    );
  });
}
