// A command is sent, and its answer asked for: its metadata name the service that the answer goes to.
// In: a command, its id, where it is sent from. Out: it is stored. Called by the part that waits for the answer.
import type { MessageId } from '../message.js';
import type { MessageToSend } from '../messages/index.js';
import { addressOf, type DispatcherOptions } from './dispatcher.js';
import { handledMessage } from './handled-message.js';
import { prepareMessages } from './prepare.js';
import { requestInReceptor } from './refusals.js';
import { type ResolvedSendOptions, resolveSendOptions } from './resolve-send-options.js';
import type { RequestOptions } from './send-options.js';

/** Checks the options of a request. Refuses one inside a receptor. */
export function resolveRequest(options: RequestOptions): ResolvedSendOptions {
  if (handledMessage() !== undefined) throw requestInReceptor();
  return resolveSendOptions('request', options as object, 1);
}

/** Stores a command whose answer goes to the service that sends it. */
export async function sendAsking(
  sender: DispatcherOptions,
  command: MessageToSend<'command'>,
  messageId: MessageId,
  resolved: ResolvedSendOptions,
): Promise<void> {
  const rows = await prepareMessages(command, {
    method: 'request',
    kind: 'command',
    sender,
    resolved: { ...resolved, envelope: { ...resolved.envelope, messageId } },
    addressOf: (definition) => addressOf(sender, definition, resolved.to),
    finish: (row) => ({ ...row, metadata: { ...(row.metadata as object), answerTo: sender.service } }),
  });
  await sender.outbox.store(rows, undefined);
}
