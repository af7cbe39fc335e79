// Decides, for both lanes, whether and when a failed message is retried, or becomes a dead letter.
// In: the message, what was thrown, whether a retry can help. Out: the report, and calls of the listeners.
// Called by the workers, once for every failure. It never makes a call and never sets a timer.
import { describeError } from '../../describe-error.js';
import type { MessageFailure, WorkItem } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import { decideReceptors } from './decide-receptors.js';
import { type DecisionListeners, messageOf } from './failed-attempt.js';
import { ReceptorError, UnfinishedReceptors } from './receptor-error.js';
import type { RetryPolicies } from './retry-policies.js';

interface FailureDecisionsOptions<Tx> extends DecisionListeners {
  readonly policies: RetryPolicies<Tx>;
}

export class FailureDecisions<Tx> {
  readonly #options: FailureDecisionsOptions<Tx>;

  constructor(options: FailureDecisionsOptions<Tx>) {
    this.#options = options;
  }

  /** Decides about an inbox message that is not finished, and about its receptors where it has several. */
  report(item: WorkItem, thrown: unknown): WorkUnit {
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
    if (retryAfterSeconds === undefined) {
      onGivenUp(failed);
      return { ...report, deadLetter: true };
    }
    onRetry({ ...failed, retryAfterSeconds });
    onWait(retryAfterSeconds);
    return { ...report, retryAfterSeconds };
  }
}
