import { WhizbangError } from '../../errors.js';
import type { Receptor } from '../../receptors/index.js';
import type { ItemOutcome } from '../streams/processor-options.js';

/** Reason why a message was not handled, with the receptor whose retry policy decides what follows. */
export class ReceptorError<Tx> {
  readonly receptor: Receptor<Tx>;
  readonly cause: unknown;
  /** Whether a retry cannot help. */
  readonly isFinal: boolean;

  constructor(receptor: Receptor<Tx>, cause: unknown, isFinal: boolean) {
    this.receptor = receptor;
    this.cause = cause;
    this.isFinal = isFinal;
  }
}

export function failed<Tx>(receptor: Receptor<Tx>, error: unknown, isFinal: boolean): ItemOutcome {
  return { kind: 'failed', completedStatus: 0, error: new ReceptorError(receptor, error, isFinal) };
}

export function interruptedTooOften(interruptions: number): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `${interruptions} instances died or stalled while they held this message, and may have been running it.`,
    hint: 'Find out why they died, for example lack of memory or a crash in native code. Then put the message back.',
  });
}
