// What runs around the handler of a receptor: of all receptors of a service, and of one.
// In: a receptor and a function. Out: the receptor with the function around its handler.
// Called when receptors are made and when they are given to a service. A receptor without one is left as it is.
import type { Around, Receptor } from './receptor-types.js';

type Handle<Tx> = Receptor<Tx>['handle'];

/** Returns the receptor with the function around it: outside of what is around it already. */
export function withAround<Tx>(receptor: Receptor<Tx>, around: Around<Tx> | undefined): Receptor<Tx> {
  if (around === undefined) return receptor;
  const handle: Handle<Tx> = (payload, context) => receptor.handle(payload, context);
  return Object.freeze({ ...receptor, handle: aroundHandle(around, handle) });
}

export function aroundHandle<Tx>(around: Around<Tx>, handle: Handle<Tx>): Handle<Tx> {
  return async (payload, context) => {
    let running: Promise<unknown> | undefined;
    let isRunning = false;
    const run = async () => {
      isRunning = true;
      try {
        return await handle(payload, context);
      } finally {
        isRunning = false;
      }
    };
    const next = () => {
      if (running !== undefined) return running;
      running = run();
      // Who does not await it may throw before it does. An unhandled rejection must not end the process.
      running.catch(() => {});
      return running;
    };
    await around(context.envelope, context, next);
    // If it was not awaited, the transaction must not end before it. What `around` has caught stays caught.
    if (isRunning) await running;
    return running?.catch(() => undefined);
  };
}
