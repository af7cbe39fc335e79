import { setTimeout as wait } from 'node:timers/promises';

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/** Waits the longer the more often it has failed, and not all instances equally long. Ends early with the signal. */
export async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  if (failures === 0) return;
  const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
  await wait(pauseMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {});
}
