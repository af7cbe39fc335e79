import type { Queryable } from '../database/index.js';
import type { SendingInstance } from '../dispatch/index.js';
import type { AppendReceipt, Receipt } from '../fold/index.js';
import type { Logger } from '../logger.js';
import type { NewOutboxMessage } from '../message.js';
import { invalidOption } from '../options.js';
import type { StoreAccess } from './store-access.js';
import type { SubjectKeys } from './subject-keys.js';
import type { TickAudit } from './tick-audit.js';

/** Options of `events.stream`. */
export interface StreamOptions {
  /** Reads the events after this version; backwards, those before it. */
  readonly after?: number | undefined;
  /** The most events to read. Default: all. */
  readonly limit?: number | undefined;
  /** Reads the last event first. Default: false. */
  readonly backwards?: boolean | undefined;
  /** Reads in this transaction. */
  readonly tx?: object;
}

/** Options of `events.load` and `events.decide`. */
export interface InTransaction {
  /** Your own transaction. A decision then locks the stream first, and is appended if and only if it commits. */
  readonly tx?: object;
}

/** What an event store is made of. */
export interface EventStoreOptions {
  readonly access: StoreAccess;
  readonly keys: SubjectKeys;
  readonly sender: SendingInstance;
  readonly logger: Logger;
  /** Models that are stored with the events that change them. */
  readonly inline?: InlineModels | undefined;
  readonly audit?: TickAudit | undefined;
}

/** Inline perspectives, as the event store sees them. */
interface InlineModels {
  concerns(events: readonly NewOutboxMessage[]): boolean;
  bring(events: readonly NewOutboxMessage[], db: Queryable): Promise<void>;
}

/** The receipt of a call: that of its last event, with those of all. */
export function receiptOf(receipts: readonly Receipt[]): AppendReceipt {
  const last = receipts.at(-1);
  if (last === undefined)
    throw invalidOption('append', 'events', 'there are no events', 'Give at least one.');
  return { ...last, receipts };
}

/** A caller that writes `tx` wants the transaction: outside of it, another state is read, and a decision stays after a rollback. */
export function refuseNoTransaction(owner: string, options: InTransaction): void {
  if (!('tx' in options) || (options.tx !== undefined && options.tx !== null)) return;
  const hint = 'Pass the transaction, or leave tx out. Nothing was done.';
  throw invalidOption(owner, 'tx', `tx is ${String(options.tx)}`, hint);
}
