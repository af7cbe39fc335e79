// A message that is sent at most once under a key within a time.
// In: a prepared message, its key, the transaction if there is one. Out: the id of the first, and whether it is this one.
// Called by the dispatcher. The key and the message are committed together, or neither is.
import { claimUnique } from '../coordinator/index.js';
import {
  type ConnectionPool,
  fromDatabaseError,
  inTransaction,
  type Queryable,
  withPooledClient,
} from '../database/index.js';
import type { MessageId, NewOutboxMessage } from '../message.js';
import { invalidOption } from '../options.js';
import { asQueryable } from '../transactions/index.js';
import type { UniqueOptions } from './send-options.js';

/** The answer to a message with a `uniqueKey`. */
export interface UniqueReceipt {
  /** The id of the message that has the key: of this one, or of the first. */
  readonly messageId: MessageId;
  /** Whether this message was sent. False: another one has the key. */
  readonly isNew: boolean;
}

interface UniqueSendingOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  /** Stores messages in a transaction. */
  readonly inTransaction: { store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> };
}

export class UniqueSending {
  readonly #options: UniqueSendingOptions;

  constructor(options: UniqueSendingOptions) {
    this.#options = options;
  }

  /** Claims the key in a transaction, and stores the message by `outbox`, if the key was free. */
  async send(
    message: NewOutboxMessage,
    unique: UniqueOptions,
    tx: object,
    store: () => Promise<void>,
  ): Promise<UniqueReceipt> {
    const receipt = await this.#claim(asQueryable(tx), message.messageId, unique);
    if (receipt.isNew) await store();
    return receipt;
  }

  /** The same in a transaction of its own. */
  sendAlone(message: NewOutboxMessage, unique: UniqueOptions): Promise<UniqueReceipt> {
    const { pool, inTransaction: outbox } = this.#options;
    return withPooledClient(pool, (db) =>
      inTransaction(db, async () => {
        const receipt = await this.#claim(db, message.messageId, unique);
        if (receipt.isNew) await outbox.store([message], db);
        return receipt;
      }),
    );
  }

  async #claim(db: Queryable, messageId: MessageId, unique: UniqueOptions): Promise<UniqueReceipt> {
    const { uniqueKey, uniqueSeconds } = unique;
    const first = await claimUnique(db, this.#options.schema, uniqueKey, messageId, uniqueSeconds).catch(
      (error: unknown) => {
        throw fromDatabaseError(error);
      },
    );
    return { messageId: first ?? messageId, isNew: first === undefined };
  }
}

/** Refuses a key where the message is stored later, and not in the transaction that would claim the key. */
export const noTransaction = (method: string) =>
  invalidOption(
    method,
    'uniqueKey',
    'uniqueKey is given in a receptor without a transaction',
    'Let the receptor have its transaction, or send by the instance: shop.send(…).',
  );
