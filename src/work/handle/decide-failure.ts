import { describeError } from '../../describe-error.js';
import type { MessageFailure, WorkItem } from '../../message.js';
import { isFinalError, type RetryPolicy, retryDelaySeconds } from '../../receptors/index.js';

/** What to report for a message that failed: when to try it again, or that it is given up. */
export function failureReport(
  item: WorkItem,
  error: unknown,
  policy: RetryPolicy,
  isFinal: boolean,
): MessageFailure {
  const attempts = item.attempts + 1;
  const givenUp = isFinal || isFinalError(policy, error) || attempts >= policy.attempts;
  return {
    messageId: item.messageId,
    completedStatus: 0,
    error: describeError(error),
    attempt: attempts,
    ...(givenUp ? { deadLetter: true } : { retryAfterSeconds: retryDelaySeconds(policy, attempts) }),
  };
}
