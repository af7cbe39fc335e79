// Whether handlers started exactly once for each message, and in the order of its stream. The messages are
// spread in turn over a number of streams (messageSource), so that the one after n in a stream is n +
// streams. It remembers a number per stream and is cheap enough to check a handler that does nothing.

export class StreamOrder {
  readonly #streams: number;
  readonly #last = new Map<string, number>();
  #fault: string | undefined;

  constructor(streams: number) {
    this.#streams = streams;
  }

  see(streamId: string, number: number): void {
    const last = this.#last.get(streamId);
    const expected = last === undefined ? number % this.#streams : last + this.#streams;
    if (number !== expected)
      this.#fault ??= `message ${number} was handled, but ${expected} is the next of its stream`;
    this.#last.set(streamId, number);
  }

  /** Throws when a message was skipped, repeated or early. */
  check(): void {
    if (this.#fault !== undefined) throw new Error(this.#fault);
  }
}
