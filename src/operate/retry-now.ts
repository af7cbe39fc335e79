import { retryNow as askToRetryNow } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { MessageId } from '../message.js';
import { refuseId } from './refuse-id.js';

/** Makes a message due now that waits for a time. Returns whether it waited. */
export async function retryNow(access: StoreAccess, messageId: MessageId, who?: string): Promise<boolean> {
  refuseId('retryNow', messageId);
  return access.ask(undefined, (db, schema) => askToRetryNow(db, schema, messageId, who));
}
