// The answer to a command that somebody waits for: a message back to the service that has asked.
// In: the message, and what its receptor returned or why it was given up. Out: a row of the outbox, or none.
// Called by the task runner, so that the answer is sent in the receptor's own transaction, and where a message becomes a
// dead letter, so that it is sent with that. It never waits for anything but a schema.
import { type AnswerContent, answerType } from '../../coordinator/index.js';
import type { SendingInstance } from '../../dispatch/index.js';
import type { NewOutboxMessage, WorkItem } from '../../message.js';
import { newMessageId } from '../../message-id.js';
import {
  answerAddressOf,
  childTraceparent,
  envelopeOf,
  jsonResult,
  newTraceparent,
  readPriority,
  toMetadata,
} from '../../messages/index.js';
import type { Task } from './task.js';

type Sender = Pick<SendingInstance, 'service' | 'instanceId'>;

/** Returns the answers of a task whose handler has returned, or whose message is buried. Mostly none. */
export async function answersOf<Tx>(
  task: Task<Tx>,
  returned: unknown,
  sender: Sender,
): Promise<readonly NewOutboxMessage[]> {
  const { item, items = [item], receptor, givenUp } = task;
  const answers: NewOutboxMessage[] = [];
  for (const [place, each] of items.entries()) {
    const to = answerAddressOf(each.metadata);
    if (to === undefined) continue;
    if (givenUp !== undefined) answers.push(refusalOf(each, givenUp, sender) as NewOutboxMessage);
    else if (task.items === undefined) {
      const result = await jsonResult(receptor.definition, returned);
      answers.push(answerOf(each, to, { requestId: each.messageId, result }, sender));
    } else if (!(Array.isArray(returned) && returned[place] instanceof Error)) {
      answers.push(answerOf(each, to, { requestId: each.messageId }, sender));
    }
  }
  return answers;
}

/** Whether somebody waits for the answer to one of these messages. */
export function isAskedFor(items: readonly WorkItem[]): boolean {
  return items.some(({ metadata }) => answerAddressOf(metadata) !== undefined);
}

/** Returns the answer to a message that is given up: the error. Undefined: nobody waits for one. */
export function refusalOf(item: WorkItem, thrown: unknown, sender: Sender): NewOutboxMessage | undefined {
  const to = answerAddressOf(item.metadata);
  if (to === undefined) return undefined;
  const { name, message, code } = (
    thrown instanceof Error ? thrown : new Error(String(thrown))
  ) as NodeJS.ErrnoException;
  const error = { name, message: message.replaceAll('\0', '').toWellFormed().slice(0, mostCharacters) };
  const known = typeof code === 'string' ? { ...error, code } : error;
  return answerOf(item, to, { requestId: item.messageId, error: known }, sender);
}

const mostCharacters = 2_000;

function answerOf(
  item: WorkItem,
  destination: string,
  eventData: AnswerContent,
  { service, instanceId }: Sender,
): NewOutboxMessage {
  const command = envelopeOf(item, { kind: 'command', type: item.eventType });
  const messageId = newMessageId();
  const hop = { service, instanceId, at: new Date().toISOString() };
  const metadata = toMetadata(
    {
      ...command,
      messageId,
      causationId: command.messageId,
      hops: [...command.hops, hop],
      traceparent: childTraceparent(command.traceparent) ?? newTraceparent(),
      schemaVersion: 1,
    },
    readPriority(item.metadata),
  );
  const priority = readPriority(item.metadata);
  const ranked = priority === undefined ? {} : { priority };
  return { messageId, destination, eventType: answerType, eventData, metadata, streamId: null, ...ranked };
}
