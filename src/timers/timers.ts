import { listTimers, type TimerRow } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { MessageId, StreamId } from '../message.js';
import { streamIdOf } from '../messages/index.js';
import { invalidOption, resolveOptions, timerListOptions } from '../options.js';

/** A message that waits for its time. */
export interface Timer {
  /** The id of the message: `shop.cancel(id)`. */
  readonly id: MessageId;
  readonly type: string;
  readonly streamId: StreamId | null;
  /** When it takes its place in its stream. */
  readonly dueAt: Date;
  /** When it was sent. */
  readonly sentAt: Date;
  /** The service that it is for, or the address of an event. */
  readonly to: string;
  readonly scope: unknown;
  /** Its place among those of the same time. */
  readonly order: number;
}

/** Options of `timers.list`. */
export interface TimerFilter {
  /** Only messages of this type. */
  readonly type?: string | undefined;
  /** Only messages of this stream. */
  readonly stream?: string | undefined;
  /** How many at most. Default: 100. */
  readonly limit?: number | undefined;
  /** The last timer of the page before. */
  readonly after?: Pick<Timer, 'dueAt' | 'order'> | undefined;
  /** Your own transaction, to see what was sent in it. */
  readonly tx?: object;
}

/** The timers of the service. */
export class Timers {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Lists the messages that wait for their time, the first to be sent first. */
  async list(filter: TimerFilter = {}): Promise<readonly Timer[]> {
    const { type, stream, after, tx } = filter;
    const { limit } = resolveOptions('timers.list', timerListOptions, { ...filter }, filterKeys);
    if (type !== undefined && typeof type !== 'string') {
      throw invalidOption('timers.list', 'type', 'type is not a text', 'Give the type of a message.');
    }
    if (after !== undefined && !(after?.dueAt instanceof Date && Number.isSafeInteger(after.order))) {
      const hint = 'Give the last timer of the page before.';
      throw invalidOption('timers.list', 'after', 'after is not a timer', hint);
    }
    const streamId = streamIdOf(stream) ?? undefined;
    const question = { type, streamId, limit, after };
    const rows = await this.#access.ask(tx, (db, schema) => listTimers(db, schema, question));
    return rows.map(toTimer);
  }
}

const filterKeys = ['type', 'stream', 'after', 'tx'];

function toTimer(row: TimerRow): Timer {
  return {
    id: row.message_id,
    type: row.event_type,
    streamId: row.stream_id,
    dueAt: new Date(row.due_at),
    sentAt: new Date(row.created_at),
    to: row.destination,
    scope: row.scope,
    order: row.timer_order,
  };
}
