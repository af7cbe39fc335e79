// The message that is being handled where this code runs, however deep in the calls of its receptor.
// In: a receptor's run. Out: its envelope, for what is sent there by another object than `ctx`.
// Set by the runner of handlers, read where envelopes are made. It never reaches what the receptor only sets
// in motion: work that a call hands out is begun outside of it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Envelope } from '../messages/index.js';

const handled = new AsyncLocalStorage<Envelope | undefined>();

/** Runs the work as a part of handling this message. */
export function whileHandling<T>(envelope: Envelope, work: () => T): T {
  return handled.run(envelope, work);
}

/** Runs the work as a part of no message, wherever it is called. */
export function outsideReceptors<T>(work: () => T): T {
  return handled.getStore() === undefined ? work() : handled.run(undefined, work);
}

/** Returns the message that is being handled here; undefined outside of receptors. */
export function handledMessage(): Envelope | undefined {
  return handled.getStore();
}
