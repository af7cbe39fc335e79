import { invalidOption } from '../options.js';
import { isUuid } from '../uuid.js';

/** Refuses what is not an id of a message. */
export function refuseId(owner: string, messageId: unknown): void {
  if (isUuid(messageId)) return;
  const hint = 'Give the messageId that send or publish returned, or that of a notice. It is a UUID.';
  throw invalidOption(owner, 'messageId', `${JSON.stringify(messageId)} is not the id of a message`, hint);
}
