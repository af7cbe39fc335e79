// A task: one receptor and the message that it is to handle; how it is read, and the report on it.
import { MessageProcessingStatus, type NewOutboxMessage, type WorkItem } from '../../message.js';
import { type Envelope, readEnvelope } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { WorkUnit } from '../../strategies/index.js';
import { nextStage } from './stages.js';

/** A message, and the receptor that is to handle it. */
export interface Task<Tx> {
  readonly item: WorkItem;
  readonly envelope: Envelope;
  readonly receptor: Receptor<Tx>;
  /** The attempt of this receptor: 1 at first. */
  readonly attempt: number;
  /** Whether it is the last receptor of the message that has to run. */
  readonly isLast: boolean;
  readonly isOneOfSeveral: boolean;
  readonly signal: AbortSignal;
  /** When it was begun, by `performance.now()`. */
  readonly begunAt: number;
}

/** Reads the message. Each of several receptors gets its own payload, so that its changes reach no other. */
export function readFor<Tx>(
  item: WorkItem & { readonly erased?: readonly string[] | undefined },
  { definition }: Receptor<Tx>,
  isOneOfSeveral: boolean,
): Promise<Envelope> {
  const own = isOneOfSeveral ? { ...item, eventData: structuredClone(item.eventData) } : item;
  return readEnvelope(own, definition);
}

export const secondsSince = (begunAt: number) => (performance.now() - begunAt) / 1000;

/** Builds the report on messages that were handled, with the messages that their receptors sent. */
export function reportOf<Tx>(
  tasks: readonly Task<Tx>[],
  newOutboxMessages: readonly NewOutboxMessage[],
): WorkUnit {
  return {
    newOutboxMessages,
    receptorCompletions: tasks
      .filter(({ isOneOfSeveral }) => isOneOfSeveral)
      .map(({ item, receptor, attempt, begunAt }) => ({
        eventId: item.messageId,
        receptorName: receptor.name,
        status: MessageProcessingStatus.ReceptorProcessed,
        attempt,
        tookSeconds: secondsSince(begunAt),
      })),
    inboxCompletions: tasks
      .filter(({ isLast }) => isLast)
      .map(({ item: { messageId, status } }) => ({ messageId, status: nextStage(status).reports })),
    renewInboxLeaseIds: tasks.filter(({ isLast }) => !isLast).map(({ item }) => item.messageId),
  };
}
