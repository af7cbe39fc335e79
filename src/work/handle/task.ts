// A task: one receptor and the message that it is to handle; how it is read, and the report on it.
import {
  type MessageFailure,
  MessageProcessingStatus,
  type NewOutboxMessage,
  type WorkItem,
} from '../../message.js';
import { type Envelope, readEnvelope } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { WorkUnit } from '../../strategies/index.js';
import type { StartedItem } from '../streams/processor-options.js';
import { nextStage } from './stages.js';

/** A message, and the receptor that is to handle it. */
export interface Task<Tx> {
  readonly item: WorkItem;
  readonly envelope: Envelope;
  readonly receptor: Receptor<Tx>;
  /** The attempt of this receptor: 1 at first. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** The message is given up for this error: `onGivenUp` of the receptor is run, and the message is buried. */
  readonly givenUp?: Error | undefined;
  /** Whether it is the last receptor of the message that has to run. */
  readonly isLast: boolean;
  readonly isOneOfSeveral: boolean;
  /** The run that it is a part of, which may be aborted. */
  readonly started: StartedItem<WorkItem>;
  /** When it was begun, by `performance.now()`. */
  readonly begunAt: number;
  /** All messages that its handler handles in one call. Undefined: its own. */
  readonly items?: readonly WorkItem[] | undefined;
  /** Called with what the handler has returned. If it throws, the task has failed. */
  readonly onReturned?: ((returned: unknown) => void) | undefined;
  /** How long its handler ran, once it has. */
  durationMs?: number | undefined;
}

/** A task whose message is not read yet. */
export type UnreadTask<Tx> = Omit<Task<Tx>, 'envelope' | 'items' | 'onReturned' | 'durationMs'>;

/**
 * Returns the task of a message that was read. It is made field by field: V8 gives a copy (`...`) with another field a new
 * hidden class each time, and then every use of it is slow.
 */
export function taskOf<Tx>(unread: UnreadTask<Tx>, envelope: Envelope): Task<Tx> {
  const { item, receptor, attempt, isLastAttempt, givenUp, isLast, isOneOfSeveral, started, begunAt } =
    unread;
  return {
    item,
    envelope,
    receptor,
    attempt,
    isLastAttempt,
    givenUp,
    isLast,
    isOneOfSeveral,
    started,
    begunAt,
    durationMs: undefined,
  };
}

/** Reads the message. Each of several receptors gets its own payload, so that its changes reach no other. */
export function readFor<Tx>(
  item: WorkItem & { readonly erased?: readonly string[] | undefined },
  { definition }: Receptor<Tx>,
  isOneOfSeveral: boolean,
): Envelope | Promise<Envelope> {
  const own = isOneOfSeveral ? { ...item, eventData: structuredClone(item.eventData) } : item;
  return readEnvelope(own, definition);
}

export const secondsSince = (begunAt: number) => (performance.now() - begunAt) / 1000;

/** Builds the report on messages that were handled or given up, with the messages that their receptors sent. */
export function reportOf<Tx>(
  tasks: readonly Task<Tx>[],
  newOutboxMessages: readonly NewOutboxMessage[],
): WorkUnit {
  const buried = tasks.filter(({ givenUp, isLast }) => givenUp !== undefined && isLast);
  if (buried.length > 0) {
    return {
      newOutboxMessages,
      inboxFailures: buried.map(({ item }) => burialOf(item)),
    };
  }
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

/**
 * The part of a failure that gives a message up, where a receptor has an `onGivenUp`. The message stays, is handed out
 * once more at once, and is buried by the transaction in which that is called.
 */
export const givingUp = { completedStatus: MessageProcessingStatus.GivenUp, retryAfterSeconds: 0 } as const;

/** Buries a message that was given up before: no attempt is added, and its error stays. */
export function burialOf({ messageId, attempts }: WorkItem): MessageFailure {
  return { messageId, completedStatus: 0, attempt: attempts + 1, counted: false, deadLetter: true };
}
