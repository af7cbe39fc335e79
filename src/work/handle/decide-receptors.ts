// Decides about a message with several receptors of which some are missing: each is tried again by its own
// policy, or given up. In: the message, its missing receptors. Out: the report, and calls of the listeners.
// Called by decide-failure.ts. The message is retried when the first of them is due; it becomes a dead letter
// when all of them are given up.
import { describeError } from '../../describe-error.js';
import type { MessageFailure, ReceptorFailure, WorkItem } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import { type DecisionListeners, type FailedAttempt, messageOf } from './failed-attempt.js';
import type { FailedReceptor, UnfinishedReceptors } from './receptor-error.js';
import type { RetryPolicies } from './retry-policies.js';
import { givingUp } from './task.js';

interface ReceptorDecisionsOptions<Tx> extends DecisionListeners {
  readonly policies: RetryPolicies<Tx>;
}

type Decided<Tx> = FailedReceptor<Tx> & {
  readonly error: string;
  /** Undefined: it is given up. */
  readonly retryAfterSeconds: number | undefined;
};

export function decideReceptors<Tx>(
  item: WorkItem,
  { failed, waiting, givenUp }: UnfinishedReceptors<Tx>,
  { policies, onRetry, onGivenUp, onWait }: ReceptorDecisionsOptions<Tx>,
): WorkUnit {
  const decided = failed.map((each): Decided<Tx> => {
    const { receptor, attempt, cause, isFinal } = each;
    const retryAfterSeconds = policies.delayAfter(receptor, attempt, cause, isFinal);
    return { ...each, error: describeError(cause), retryAfterSeconds };
  });
  const waits = [
    ...decided.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []),
    ...waiting.map(({ dueAt }) => Math.max(0, (dueAt - performance.now()) / 1000)),
  ];
  const missing = [...decided, ...waiting, ...givenUp].map(({ receptor: { name }, error }) => ({
    name,
    error,
  }));
  const isCounted = failed.length > 0;
  const report = {
    messageId: item.messageId,
    completedStatus: 0,
    attempt: item.attempts + 1,
    ...(!isCounted && { counted: false }),
  };
  if (waits.length === 0) {
    const error = describeMissing(missing);
    if ([...decided, ...givenUp].some(({ receptor }) => receptor.onGivenUp !== undefined)) {
      onWait(0);
      return unitOf(item, { ...report, ...givingUp, error }, decided);
    }
    const attempts = item.attempts + (isCounted ? 1 : 0);
    onGivenUp({ ...messageOf(item), ...deathOf(decided, givenUp, { attempts, error }) });
    return unitOf(item, { ...report, error, deadLetter: true }, decided);
  }
  for (const { receptor, attempt, cause, retryAfterSeconds } of decided) {
    const failure = { ...messageOf(item), receptor: receptor.name, attempt, error: cause };
    onRetry(retryAfterSeconds === undefined ? failure : { ...failure, retryAfterSeconds });
  }
  const retryAfterSeconds = Math.min(...waits);
  onWait(retryAfterSeconds);
  const error = describeMissing(isCounted ? missing.slice(0, decided.length) : missing);
  return unitOf(item, { ...report, error, retryAfterSeconds }, decided);
}

/** What is told of a dead letter: of one receptor, if it is the only one that is missing. */
function deathOf<Tx>(
  decided: readonly Decided<Tx>[],
  givenUp: UnfinishedReceptors<Tx>['givenUp'],
  { attempts, error }: { readonly attempts: number; readonly error: string },
): Pick<FailedAttempt, 'receptor' | 'attempt' | 'error'> {
  const [only, ...others] = [
    ...decided.map(({ receptor, attempt, cause }) => ({ receptor: receptor.name, attempt, error: cause })),
    ...givenUp.map(({ receptor, failures, error: text }) => ({
      receptor: receptor.name,
      attempt: failures,
      error: new Error(text),
    })),
  ];
  return only === undefined || others.length > 0 ? { attempt: attempts, error: new Error(error) } : only;
}

/** Names the receptors with their errors. The first line has all names: lists show only that line. */
function describeMissing(missing: readonly { readonly name: string; readonly error: string }[]): string {
  const lines = missing.map(({ name, error }) => `${name}: ${error}`);
  if (missing.length === 1) return lines.join('');
  return [`${missing.length} receptors: ${missing.map(({ name }) => name).join(', ')}`, ...lines].join('\n');
}

function unitOf<Tx>(
  { messageId }: WorkItem,
  failure: MessageFailure,
  decided: readonly Decided<Tx>[],
): WorkUnit {
  const receptorFailures = decided.map(
    ({ receptor, attempt, tookSeconds, error, retryAfterSeconds }): ReceptorFailure => ({
      eventId: messageId,
      receptorName: receptor.name,
      status: 0,
      error,
      attempt,
      tookSeconds,
      ...(retryAfterSeconds === undefined ? { givenUp: true } : { retryAfterSeconds }),
    }),
  );
  return { inboxFailures: [failure], receptorFailures };
}
