/**
 * An abort whose signal is made when somebody asks for it. Every message that is handled has one, and few handlers read
 * `ctx.signal`: an AbortController takes 2.8 µs with its garbage, of the 80 that Node has for a message.
 */
export class LazySignal {
  aborted = false;
  reason: unknown;
  #controller: AbortController | undefined;
  #listeners: (() => void)[] | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  /** Calls the listener once, when it is aborted; at once, if it is already. */
  whenAborted(listener: () => void): void {
    if (this.aborted) listener();
    else {
      this.#listeners ??= [];
      this.#listeners.push(listener);
    }
  }
}
