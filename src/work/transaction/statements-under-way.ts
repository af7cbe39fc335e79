import { serverErrorOf } from '../../database/index.js';

/** Statements of a transaction that were sent and are not answered yet. */
export class StatementsUnderWay {
  readonly #answers = new Set<Promise<unknown>>();

  /** Returns the answer. It is no longer under way before anything that awaits it here goes on. */
  add<T>(answer: T | Promise<T>): Promise<T> {
    const waiting = Promise.resolve(answer);
    this.#answers.add(waiting);
    const forget = () => this.#answers.delete(waiting);
    waiting.then(forget, forget);
    return waiting;
  }

  get isEmpty(): boolean {
    return this.#answers.size === 0;
  }

  /** Settles with the next answer. Undefined: no statement is under way. */
  get nextAnswer(): Promise<unknown> | undefined {
    return this.isEmpty ? undefined : Promise.race(this.#answers);
  }
}

/** Resolves when PostgreSQL has answered, even with an error. An error made by a library does not count. */
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
