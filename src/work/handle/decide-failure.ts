// Decides, for both lanes, whether and when a failed message is retried, or becomes a dead letter.
// In: the message, what was thrown, whether a retry can help. Out: the report, and calls of the listeners.
// Called by the workers, once for every failure. It never makes a call and never sets a timer.
import { describeError } from '../../describe-error.js';
import type { WhizbangError } from '../../errors.js';
import type { MessageFailure, NewOutboxMessage, WorkItem } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import { decideReceptors } from './decide-receptors.js';
import { type DecisionListeners, messageOf } from './failed-attempt.js';
import { NotBuried, ReceptorError, UnfinishedReceptors } from './receptor-error.js';
import type { RetryPolicies } from './retry-policies.js';
import { burialOf, givingUp } from './task.js';
import { tooNewError, tooNewSeconds } from './too-new.js';

interface FailureDecisionsOptions<Tx> extends DecisionListeners {
  readonly policies: RetryPolicies<Tx>;
  /** Returns the answer to a message that becomes a dead letter, if somebody waits for one. */
  readonly refusalOf: (item: WorkItem, error: unknown) => NewOutboxMessage | undefined;
  /** Called when a message has to wait for newer code. */
  readonly onTooNew: (item: WorkItem, error: WhizbangError) => void;
}

export class FailureDecisions<Tx> {
  readonly #options: FailureDecisionsOptions<Tx>;

  constructor(options: FailureDecisionsOptions<Tx>) {
    this.#options = options;
  }

  /** Decides about an inbox message that is not finished, and about its receptors where it has several. */
  report(item: WorkItem, thrown: unknown): WorkUnit {
    const unit = this.#decideInbox(item, thrown);
    if (unit.inboxFailures?.[0]?.deadLetter !== true) return unit;
    const isWrapped = thrown instanceof ReceptorError || thrown instanceof NotBuried;
    const refusal = this.#options.refusalOf(item, isWrapped ? thrown.cause : thrown);
    if (refusal === undefined) return unit;
    return { ...unit, newOutboxMessages: [{ ...refusal, onlyWith: item.messageId }] };
  }

  #decideInbox(item: WorkItem, thrown: unknown): WorkUnit {
    if (thrown instanceof NotBuried) return { inboxFailures: [this.#bury(item, thrown)] };
    const tooNew = tooNewError(thrown);
    if (tooNew !== undefined) {
      this.#options.onTooNew(item, tooNew);
      return { inboxFailures: [this.wait(item, tooNew, tooNewSeconds)] };
    }
    if (thrown instanceof UnfinishedReceptors) return decideReceptors<Tx>(item, thrown, this.#options);
    return { inboxFailures: [this.decide(item, thrown, false)] };
  }

  /** Decides about one failure. `isFinal`: a retry cannot help. A `ReceptorError` may be final too. */
  decide(item: WorkItem, thrown: unknown, isFinal: boolean): MessageFailure {
    const { policies, onRetry, onGivenUp, onWait } = this.#options;
    const isOfReceptor = thrown instanceof ReceptorError;
    const error = isOfReceptor ? thrown.cause : thrown;
    const receptor = isOfReceptor ? (thrown as ReceptorError<Tx>).receptor : undefined;
    const attempt = item.attempts + 1;
    const name = receptor !== undefined && { receptor: receptor.name };
    const failed = { ...messageOf(item), ...name, attempt, error };
    const report = { messageId: item.messageId, completedStatus: 0, error: describeError(error), attempt };
    const isHopeless = isFinal || (isOfReceptor && thrown.isFinal);
    const retryAfterSeconds = policies.delayAfter(receptor, attempt, error, isHopeless);
    if (retryAfterSeconds === undefined && receptor?.onGivenUp !== undefined) {
      onWait(0);
      return { ...report, ...givingUp };
    }
    if (retryAfterSeconds === undefined) {
      onGivenUp(failed);
      return { ...report, deadLetter: true };
    }
    onRetry({ ...failed, retryAfterSeconds });
    onWait(retryAfterSeconds);
    return { ...report, retryAfterSeconds };
  }

  /** Decides about a message that was given up before: it is tried to be buried once more, or has nothing to call. */
  #bury(item: WorkItem, { cause, retryAfterSeconds }: NotBuried): MessageFailure {
    if (retryAfterSeconds === undefined) {
      this.#options.onGivenUp({ ...messageOf(item), attempt: item.attempts, error: cause });
      return burialOf(item);
    }
    const { error, ...waiting } = this.wait(item, cause, retryAfterSeconds);
    return waiting; // the error for which it was given up stays
  }

  /** Reports that a message has to wait for something else: nothing has failed, and no attempt is counted. */
  wait(item: WorkItem, error: unknown, retryAfterSeconds: number): MessageFailure {
    this.#options.onWait(retryAfterSeconds);
    const report = { messageId: item.messageId, completedStatus: 0, error: describeError(error) };
    return { ...report, attempt: item.attempts + 1, retryAfterSeconds, counted: false };
  }
}
