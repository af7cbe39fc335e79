import { setTimeout as pause } from 'node:timers/promises';

/** Tries an expectation until it holds. Fails with its last error when it does not in time, which is long: the machine may be busy. */
export async function eventually<T>(expectation: () => T | Promise<T>, timeoutMs = 60_000): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; await pause(10)) {
    try {
      return await expectation();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
