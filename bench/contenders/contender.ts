// The one small interface behind which the floor, whizbang and its peers are measured. A contender is opened
// on the bench server, gets a database of its own, and then takes messages through their full cycle (store,
// hand out, complete) in slices of time. A slice counts the messages that were completed and committed inside
// it. Encoding and decoding are included for all contenders.

import type pg from 'pg';
import type { BenchServer } from '../server.js';

export interface Slice {
  readonly messages: number;
  readonly elapsedMs: number;
}

export interface Runner {
  readonly name: string;
  /** Works for about this long, always in whole cycles, and leaves nothing unfinished behind. */
  slice(milliseconds: number): Promise<Slice>;
  close(): Promise<void>;
}

export interface CycleSettings {
  readonly batchSize: number;
  /** The number of streams over which the messages are spread; 'own' gives every message its own. */
  readonly streams: number | 'own';
  /** Of whizbang: how many of a hundred streams leave a history. */
  readonly historyPercent?: number;
  /** Of whizbang: changes its database before it starts. */
  readonly prepare?: (client: pg.Client) => Promise<void>;
}

export type OpenContender = (server: BenchServer, settings: CycleSettings) => Promise<Runner>;

/**
 * Repeats a cycle until the time is up and sums what the cycles completed. The check after each cycle is not
 * part of the time.
 */
export async function repeatFor(
  milliseconds: number,
  cycle: () => Promise<number>,
  check: () => Promise<void> = async () => {},
): Promise<Slice> {
  let messages = 0;
  let elapsedMs = 0;
  do {
    const start = performance.now();
    messages += await cycle();
    elapsedMs += performance.now() - start;
    await check();
  } while (elapsedMs < milliseconds);
  return { messages, elapsedMs };
}

export async function closeAll(runners: readonly Runner[]): Promise<void> {
  for (const runner of runners) await runner.close();
}
