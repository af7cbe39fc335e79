// How long a connection to a broker lasts: until it is closed. Whatever waits then ends, with DISPOSED.
// Called by the connections of the transports.
import { setTimeout as wait } from 'node:timers/promises';
import { WhizbangError } from '../../errors.js';

export class Lifetime {
  readonly #closed = new AbortController();

  /** Aborts with DISPOSED when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  throwIfEnded(): void {
    this.signal.throwIfAborted();
  }

  /** Ends with the connection, and with that signal. Throws if one of them has ended. */
  within(signal: AbortSignal): AbortSignal {
    const either = AbortSignal.any([this.signal, signal]);
    either.throwIfAborted();
    return either;
  }

  /** May be called twice. */
  end(): void {
    this.#closed.abort(
      new WhizbangError('DISPOSED', { message: 'The connection to the transport is closed.' }),
    );
  }
}

/** Rejects with the reason of the signal. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
