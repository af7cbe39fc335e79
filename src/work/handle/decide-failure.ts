// Decides, for both lanes, whether and when a failed message is retried, or becomes a dead letter.
// In: the message, what was thrown, whether a retry can help. Out: the report, and a call of onRetry or
// onGivenUp.
// Called by the workers, once for every failure. It never makes a call and never sets a timer.
import { describeError } from '../../describe-error.js';
import type { MessageFailure, WorkItem } from '../../message.js';
import {
  isFinalError,
  type Receptor,
  type RetryPolicy,
  resolveRetryPolicy,
  retryDelaySeconds,
} from '../../receptors/index.js';
import { ReceptorError } from './receptor-error.js';

/** Smallest limit of interruptions: one death of an instance makes no dead letter, whatever the attempts. */
const fewestInterruptions = 3;

/** Retry policies by receptor. An undefined receptor stands for sending to the transport. */
export class RetryPolicies<Tx> {
  readonly #default: RetryPolicy;
  readonly #byReceptor: ReadonlyMap<Receptor<Tx>, RetryPolicy>;

  constructor(owner: string, receptors: readonly Receptor<Tx>[], retry: Partial<RetryPolicy>) {
    const otherwise = resolveRetryPolicy(owner, retry);
    this.#default = otherwise;
    this.#byReceptor = new Map(
      receptors.map((receptor) => [receptor, resolveRetryPolicy(receptor.name, receptor.retry, otherwise)]),
    );
  }

  of(receptor: Receptor<Tx> | undefined): RetryPolicy {
    return (receptor === undefined ? undefined : this.#byReceptor.get(receptor)) ?? this.#default;
  }

  /** Number of times that an instance may die or stall with a message before it becomes a dead letter. */
  maxInterruptions(receptor: Receptor<Tx>): number {
    return Math.max(fewestInterruptions, this.of(receptor).attempts);
  }
}

/** An attempt that failed. */
interface FailedAttempt {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: string;
  readonly type: string;
  readonly attempt: number;
  readonly error: unknown;
}

interface FailureDecisionsOptions<Tx> {
  readonly policies: RetryPolicies<Tx>;
  /** Called when the message is retried after this time. */
  readonly onRetry: (attempt: FailedAttempt & { readonly retryAfterSeconds: number }) => void;
  /** Called when the message becomes a dead letter. */
  readonly onGivenUp: (attempt: FailedAttempt) => void;
}

export class FailureDecisions<Tx> {
  readonly #options: FailureDecisionsOptions<Tx>;

  constructor(options: FailureDecisionsOptions<Tx>) {
    this.#options = options;
  }

  /** Decides about one failure. `isFinal`: a retry cannot help. A `ReceptorError` may be final too. */
  decide(item: WorkItem, thrown: unknown, isFinal: boolean): MessageFailure {
    const { policies, onRetry, onGivenUp } = this.#options;
    const error = thrown instanceof ReceptorError ? thrown.cause : thrown;
    const receptor = thrown instanceof ReceptorError ? (thrown as ReceptorError<Tx>).receptor : undefined;
    const isHopeless = isFinal || (thrown instanceof ReceptorError && thrown.isFinal);
    const policy = policies.of(receptor);
    const attempt = item.attempts + 1;
    const { messageId, eventType: type } = item;
    const failed = { source: item.source as FailedAttempt['source'], messageId, type, attempt, error };
    const report = { messageId, completedStatus: 0, error: describeError(error), attempt };
    if (isHopeless || isFinalError(policy, error) || attempt >= policy.attempts) {
      onGivenUp(failed);
      return { ...report, deadLetter: true };
    }
    const retryAfterSeconds = retryDelaySeconds(policy, attempt);
    onRetry({ ...failed, retryAfterSeconds });
    return { ...report, retryAfterSeconds };
  }
}
