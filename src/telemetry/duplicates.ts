// How many of the messages of a call were not stored because their ids were known, by lane.
// In: what a call offered, and what it was told of. Out: counts. Called by the telemetry, when somebody collects metrics.
import type { MessageId, WorkBatch, WorkSource } from '../message.js';

interface OfferedMessage {
  readonly messageId: MessageId;
}

/** The new messages of a call. */
export interface Offered {
  readonly newOutboxMessages?: readonly OfferedMessage[] | undefined;
  readonly newInboxMessages?: readonly OfferedMessage[] | undefined;
}

export function countDuplicates(
  { newOutboxMessages = [], newInboxMessages = [] }: Offered,
  { duplicates = [] }: Pick<WorkBatch, 'duplicates'>,
): Readonly<Record<'outbox' | 'inbox', number>> {
  const known = (lane: WorkSource) => duplicates.filter(({ source }) => source === lane).length;
  return {
    outbox: repeatedIn(newOutboxMessages) + known('outbox'),
    inbox: repeatedIn(newInboxMessages) + known('inbox'),
  };
}

/** Of equal ids in one call the first is stored, or refused, and the database sees no others. */
function repeatedIn(messages: readonly OfferedMessage[]): number {
  if (messages.length < 2) return 0;
  return messages.length - new Set(messages.map(({ messageId }) => messageId)).size;
}
