import { setTimeout as pause } from 'node:timers/promises';

/** A part of retention that an instance does now and then. */
export interface Duty {
  /** Does some of it. Returns the time in milliseconds until it is called again. */
  do(signal: AbortSignal): Promise<number>;
}

export async function pauseUnless(signal: AbortSignal, milliseconds: number): Promise<void> {
  await pause(milliseconds, undefined, { signal, ref: false }).catch(() => {});
}
