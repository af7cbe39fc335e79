// One message at a time to a sleeping service. In: the services to wake, in turns (A B, B A, …), so that
// other activity of the machine affects all of them equally. Out: for each, how long its messages waited for
// their handler. One process, its monotonic clock.

export interface Passage {
  /** The time from the arrival of the answer to the commit, to the start of the handler. */
  readonly fromAnswerMs: number;
  /** The same, from the moment when the commit was sent. */
  readonly fromCommitMs: number;
}

export interface Sleeper {
  /** Resolves when no work is left and the service is asleep again. */
  untilQuiet(): Promise<void>;
  /** Commits one message, and resolves when its handler has started. */
  wake(): Promise<Passage>;
  close(): Promise<void>;
}

export async function wakeInTurns(
  sleepers: readonly Sleeper[],
  { count, warmUp }: { readonly count: number; readonly warmUp: number },
): Promise<Passage[][]> {
  const passages: Passage[][] = sleepers.map(() => []);
  for (let round = -warmUp; round < count; round++) {
    const order = [...sleepers.entries()];
    if (round % 2 !== 0) order.reverse();
    for (const [i, sleeper] of order) {
      await sleeper.untilQuiet();
      const passage = await sleeper.wake();
      if (round >= 0) passages[i]?.push(passage);
    }
  }
  return passages;
}

/**
 * Measures one passage. `started` resolves with the arguments of 'started', an id and the time, which the
 * handler emits when the commit has woken it.
 */
export async function passageOf(
  started: Promise<unknown[]>,
  messageId: string,
  commit: () => Promise<number>,
): Promise<Passage> {
  const leftAt = await commit();
  const answeredAt = performance.now();
  const [handledId, startedAt] = (await started) as [string, number];
  if (handledId !== messageId) throw new Error(`handled ${handledId} instead`);
  return { fromAnswerMs: startedAt - answeredAt, fromCommitMs: startedAt - leftAt };
}
