import { WhizbangError } from '../../errors.js';
import type { WorkItem } from '../../message.js';

/** Whether an error, or the reason of an aborted signal, is a lost lease. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof WhizbangError && error.code === 'LEASE_LOST';

export function leaseLost({ messageId, streamId }: Pick<WorkItem, 'messageId' | 'streamId'>): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `The lease of message ${messageId} was lost while it ran.`,
    details: { messageId, streamId },
  });
}

export function handedOutAgain(
  { messageId, streamId }: Pick<WorkItem, 'messageId' | 'streamId'>,
  state: string,
): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `Message ${messageId} was handed out again while it was ${state} here.`,
    hint: 'Its lease ended before this instance noticed. The message is run once. Look for a blocked event loop, a stalled process or slow calls.',
    details: { messageId, streamId },
  });
}
