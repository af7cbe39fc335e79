// The keys of sealed fields: fetched for what is stored, and for what is read, once per batch.
// In: rows before they are stored, or after they were read. Out: the same rows, sealed or opened.
// Called by the event store, and by dispatchers as their sealer. It keeps no key longer than one call: when `forget`
// has returned, no instance can open what is sealed.
import { openKeys, readKeys } from '../coordinator/index.js';
import type { Queryable } from '../database/index.js';
import type { Sealer, ToSeal } from '../dispatch/index.js';
import type { EventRow } from '../fold/index.js';
import type { MessageId, NewOutboxMessage } from '../message.js';
import {
  refuseLasting,
  type SubjectKey,
  seal,
  sealedWith,
  subjectOf,
  type Unsealed,
  unseal,
} from '../messages/index.js';
import { isUuid } from '../uuid.js';
import type { StoreAccess } from './store-access.js';

/** A message that was read: a work item, say. */
type Opened<M> = M & Pick<EventRow, 'erased'>;

interface Message {
  readonly messageId: MessageId;
  readonly eventType: string;
  readonly eventData: unknown;
  readonly metadata: unknown;
}

/** How the keys of what is read are fetched. */
interface Opening {
  /** Fetches them in this transaction. */
  readonly tx?: object | undefined;
  /** Fetches them by statements of this connection. */
  readonly db?: Queryable | undefined;
  /** What is made of the plain text is written in the transaction: nobody forgets the subjects before it ends. */
  readonly holds?: boolean;
}

export class SubjectKeys implements Sealer {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Seals those messages whose definitions say so. `locks`: they are appended in this transaction. */
  async seal(
    messages: readonly ToSeal[],
    tx: object | undefined,
    locks: boolean,
  ): Promise<readonly NewOutboxMessage[]> {
    const subjects = messages.map(({ definition: { sealed, type }, payload }) =>
      sealed === undefined ? undefined : subjectOf(sealed, type, payload),
    );
    const wanted = messages.flatMap(({ row }, i) => {
      const subject = subjects[i];
      return subject === undefined
        ? []
        : [{ subject, streamId: row.isEvent ? (row.streamId ?? null) : null }];
    });
    if (wanted.length === 0) return messages.map(({ row }) => row);
    const keys = await this.#access.ask(tx, (db, schema) =>
      openKeys(db, schema, wanted, locks && tx !== undefined),
    );
    return Promise.all(
      messages.map(async (message, i) => {
        const subject = subjects[i];
        return subject === undefined ? message.row : sealedRow(message, keys.get(subject));
      }),
    );
  }

  /** Opens the sealed fields of events. Fields whose key is gone are null, and listed in `erased`. */
  async openEvents<Row extends EventRow>(
    rows: readonly Row[],
    opening: Opening = {},
  ): Promise<readonly Row[]> {
    const asStored = ({ event_id, event_type, event_data, metadata }: Row) => ({
      id: event_id,
      type: event_type,
      json: event_data,
      metadata,
    });
    return this.#open(rows, asStored, opening, (row, { json, erased }) => ({
      ...row,
      event_data: json,
      erased,
    }));
  }

  /** Opens the sealed fields of a message. Returns a promise only when it has some. */
  openMessage<M extends Message>(message: M): Opened<M> | Promise<Opened<M>> {
    return sealedWith(message.metadata) === undefined ? message : this.#openSealed(message);
  }

  async #openSealed<M extends Message>(message: M): Promise<Opened<M>> {
    const asStored = ({ messageId, eventType, eventData, metadata }: M) => ({
      id: messageId,
      type: eventType,
      json: eventData,
      metadata,
    });
    const opened = await this.#open([message], asStored, {}, (m, { json, erased }) => ({
      ...m,
      eventData: json,
      erased,
    }));
    return opened[0] as Opened<M>;
  }

  async #open<Row>(
    rows: readonly Row[],
    asStored: (row: Row) => Parameters<typeof unseal>[0],
    { tx, db: given, holds = false }: Opening,
    withOpened: (row: Row, opened: Unsealed) => Row,
  ): Promise<readonly Row[]> {
    const stored = rows.map(asStored);
    const keyIds = [...new Set(stored.flatMap(({ metadata }) => sealedWith(metadata) ?? []))].filter(isUuid);
    const isNoneSealed = stored.every(({ metadata }) => sealedWith(metadata) === undefined);
    if (isNoneSealed) return rows;
    const keys =
      keyIds.length === 0
        ? new Map<string, Uint8Array>()
        : await this.#access.askOver(given, tx, (db, schema) => readKeys(db, schema, keyIds, holds));
    return rows.map((row, i) => {
      const each = stored[i] as (typeof stored)[number];
      return sealedWith(each.metadata) === undefined ? row : withOpened(row, unseal(each, keys));
    });
  }
}

async function sealedRow(
  { row, definition }: ToSeal,
  key: SubjectKey | undefined,
): Promise<NewOutboxMessage> {
  const { messageId: id, eventType: type, eventData, metadata } = row;
  if (definition.sealed === undefined || key === undefined)
    throw new TypeError(`There is no key for ${type}.`);
  const { json, sealed } = seal(definition.sealed, { id, type, json: eventData }, key);
  await refuseLasting(definition, json);
  return { ...row, eventData: json, metadata: { ...(metadata as object | undefined), sealed } };
}
