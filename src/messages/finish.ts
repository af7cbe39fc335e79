/**
 * Runs steps that yield what may be a promise, and resumes them with its value. Without a promise as long as none is
 * yielded: most schemas and functions return at once, and a promise for each event costs more than they do.
 */
export function finish<T>(steps: Generator<unknown, T, unknown>): T | Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    if (step.value instanceof Promise) return finishLater(steps, step.value);
    step = steps.next(step.value);
  }
  return step.value;
}

async function finishLater<T>(steps: Generator<unknown, T, unknown>, first: Promise<unknown>): Promise<T> {
  let pending: unknown = first;
  for (;;) {
    const value = await Promise.resolve(pending).catch((error: unknown) => new Rejection(error));
    const step = value instanceof Rejection ? steps.throw(value.error) : steps.next(value);
    if (step.done === true) return step.value;
    pending = step.value;
  }
}

class Rejection {
  constructor(readonly error: unknown) {}
}
