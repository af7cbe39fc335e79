// A task: one receptor and the message that it is to handle; how it is read, and the report on it.
import { MessageProcessingStatus, type NewOutboxMessage, type WorkItem } from '../../message.js';
import { type Envelope, readEnvelope } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { WorkUnit } from '../../strategies/index.js';

/** A message, and the receptor that is to handle it. */
export interface Task<Tx> {
  readonly item: WorkItem;
  readonly envelope: Envelope;
  readonly receptor: Receptor<Tx>;
  /** Whether it is the last receptor of the message that has to run. */
  readonly isLast: boolean;
  readonly isOneOfSeveral: boolean;
  readonly signal: AbortSignal;
}

/** Reads the message. Each of several receptors gets its own payload, so that its changes reach no other. */
export function readFor<Tx>(
  item: WorkItem,
  { definition }: Receptor<Tx>,
  isOneOfSeveral: boolean,
): Promise<Envelope> {
  const own = isOneOfSeveral ? { ...item, eventData: structuredClone(item.eventData) } : item;
  return readEnvelope(own, definition);
}

export const handled =
  MessageProcessingStatus.ReceptorProcessed | MessageProcessingStatus.PerspectiveProcessed;

/** Builds the report on messages that were handled, with the messages that their receptors sent. */
export function reportOf<Tx>(
  tasks: readonly Task<Tx>[],
  newOutboxMessages: readonly NewOutboxMessage[],
): WorkUnit {
  const idsOf = (some: typeof tasks) => some.map(({ item }) => item.messageId);
  return {
    newOutboxMessages,
    receptorCompletions: tasks
      .filter(({ isOneOfSeveral }) => isOneOfSeveral)
      .map(({ item, receptor }) => ({
        eventId: item.messageId,
        receptorName: receptor.name,
        status: MessageProcessingStatus.ReceptorProcessed,
      })),
    inboxCompletions: idsOf(tasks.filter(({ isLast }) => isLast)).map((messageId) => ({
      messageId,
      status: handled,
    })),
    renewInboxLeaseIds: idsOf(tasks.filter(({ isLast }) => !isLast)),
  };
}
