// Which of several receptors of a message run now: those that are missing and due.
// In: the message, its receptors, what they have reported. Out: the missing ones, told apart.
// Called by the runner of several receptors. It never reads or runs anything.
import type { ReceptorRecord } from '../../coordinator/index.js';
import type { WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';

/** A receptor that has not handled the message yet. */
export interface MissingReceptor<Tx> {
  readonly receptor: Receptor<Tx>;
  /** How many of its attempts have failed. */
  readonly failures: number;
  /** Its last failure. */
  readonly error: string;
  /** When it may run, by `performance.now()`. */
  readonly dueAt: number;
}

interface Turns<Tx> {
  /** They run now, in this order. */
  readonly due: readonly MissingReceptor<Tx>[];
  /** They have failed, and their own delays have not passed yet. */
  readonly waiting: readonly MissingReceptor<Tx>[];
  /** They are not tried again. */
  readonly givenUp: readonly MissingReceptor<Tx>[];
}

/**
 * Tells the missing receptors apart. A message that came before any of them is due was made due by hand, or
 * by a clock that went back, or its holder died: then all that wait are due.
 */
export function turnsOf<Tx>(
  { attempts }: Pick<WorkItem, 'attempts'>,
  receptors: readonly Receptor<Tx>[],
  records: readonly ReceptorRecord[],
  now = performance.now(),
): Turns<Tx> {
  const recorded = new Map(records.map((record) => [record.name, record]));
  const missing = receptors.filter(({ name }) => recorded.get(name)?.isDone !== true);
  // A failure of a receptor is recorded with a failure of its message. Where the message has none, it was put
  // back: what is recorded belongs to its life before, and all attempts are there again.
  const isFresh = attempts === 0;
  const recordOf = ({ name }: Receptor<Tx>) => (isFresh ? undefined : recorded.get(name));
  const isGivenUp = (receptor: Receptor<Tx>) => recordOf(receptor)?.isGivenUp === true;
  const missingOf = (receptor: Receptor<Tx>): MissingReceptor<Tx> => {
    const { attempts: failures = 0, error = '', waitSeconds = 0 } = recordOf(receptor) ?? {};
    return { receptor, failures, error, dueAt: now + waitSeconds * 1000 };
  };
  const givenUp = missing.filter(isGivenUp).map(missingOf);
  const others = missing.filter((receptor) => !isGivenUp(receptor)).map(missingOf);
  const due = others.filter(({ dueAt }) => dueAt <= now);
  if (due.length === 0) return { due: others, waiting: [], givenUp };
  return { due, waiting: others.filter(({ dueAt }) => dueAt > now), givenUp };
}
