import type { TransportHost } from '../transport.js';

/** Tells the host when it changes what works. At first everything does. */
export class StateReport {
  readonly #host: TransportHost;
  readonly #ended: AbortSignal;
  #sendingError: unknown;
  #receivingError: unknown;
  #told = 'true true';

  /** After the end it tells nothing more. */
  constructor(host: TransportHost, ended: AbortSignal) {
    this.#host = host;
    this.#ended = ended;
  }

  /** Why it cannot send. Undefined: it can. */
  get sendingError(): unknown {
    return this.#sendingError;
  }

  canSend(): void {
    this.tell(undefined, this.#receivingError);
  }

  cannotSend(error: unknown): void {
    this.tell(error, this.#receivingError);
  }

  canReceive(): void {
    this.tell(this.#sendingError, undefined);
  }

  cannotReceive(error: unknown): void {
    this.tell(this.#sendingError, error);
  }

  /** Why it cannot send, and why it cannot receive. Undefined: it can. */
  tell(sendingError: unknown, receivingError: unknown): void {
    this.#sendingError = sendingError;
    this.#receivingError = receivingError;
    const sending = sendingError === undefined;
    const receiving = receivingError === undefined;
    const state = `${sending} ${receiving}`;
    if (this.#ended.aborted || state === this.#told) return;
    this.#told = state;
    const error = sendingError ?? receivingError;
    this.#host.onState({ sending, receiving, ...(error !== undefined && { error }) });
  }
}
