import { WhizbangError } from '../../errors.js';
import type { Receptor } from '../../receptors/index.js';
import type { ItemOutcome } from '../streams/processor-options.js';
import type { MissingReceptor } from './receptor-turns.js';

/** Reason why a message was not handled, with the receptor whose retry policy decides what follows. */
export class ReceptorError<Tx> {
  /** Undefined: no receptor has failed, but what comes before them. The policy of the service decides. */
  readonly receptor: Receptor<Tx> | undefined;
  readonly cause: unknown;
  /** Whether a retry cannot help. */
  readonly isFinal: boolean;

  constructor(receptor: Receptor<Tx> | undefined, cause: unknown, isFinal: boolean) {
    this.receptor = receptor;
    this.cause = cause;
    this.isFinal = isFinal;
  }
}

export function failed<Tx>(
  receptor: Receptor<Tx> | undefined,
  error: unknown,
  isFinal: boolean,
): ItemOutcome & { readonly kind: 'failed' } {
  return { kind: 'failed', completedStatus: 0, error: new ReceptorError(receptor, error, isFinal) };
}

/** One of several receptors of a message, which has failed in this run. */
export interface FailedReceptor<Tx> {
  readonly receptor: Receptor<Tx>;
  /** The attempt of this receptor that failed. */
  readonly attempt: number;
  readonly cause: unknown;
  readonly isFinal: boolean;
  readonly tookSeconds: number;
}

/** Reason why a message with several receptors is not finished: the receptors that are missing. */
export class UnfinishedReceptors<Tx> {
  readonly failed: readonly FailedReceptor<Tx>[];
  /** They have failed before, and their own delays had not passed yet. */
  readonly waiting: readonly MissingReceptor<Tx>[];
  /** They were given up before. */
  readonly givenUp: readonly MissingReceptor<Tx>[];

  constructor(
    failedNow: readonly FailedReceptor<Tx>[],
    { waiting, givenUp }: Pick<UnfinishedReceptors<Tx>, 'waiting' | 'givenUp'>,
  ) {
    this.failed = failedNow;
    this.waiting = waiting;
    this.givenUp = givenUp;
  }
}

/** Reason why a message that is given up is not buried yet. Its receptors do not run again. */
export class NotBuried {
  readonly cause: unknown;
  /** Undefined: it is buried now, because there is nothing to call. */
  readonly retryAfterSeconds: number | undefined;

  constructor(cause: unknown, retryAfterSeconds?: number) {
    this.cause = cause;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function interruptedTooOften<Tx>(
  interruptions: number,
  receptors: readonly Receptor<Tx>[],
): WhizbangError {
  const names = receptors.map(({ name }) => name).join(', ');
  const which = receptors.length > 1 ? ` It was to be run by ${names}.` : '';
  return new WhizbangError('LEASE_LOST', {
    message: `${interruptions} instances died or stalled while they held this message, and may have been running it.${which}`,
    hint: 'Find out why they died, for example lack of memory or a crash in native code. Then put the message back.',
  });
}
