// Dead letters from code: to look at them, to put them back, to discard them.
// In: the id of a message, or a filter. Out: dead letters, or what was done with them.
// Called by users. What it does is done by functions of the schema, which a role may be granted.
import {
  type DeadLetterChoice,
  type DeadLetterRow,
  discardDeadLetters,
  listDeadLetters,
  type PickedRow,
  retryDeadLetters,
} from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { MessageId, StreamId } from '../message.js';
import { streamIdOf } from '../messages/index.js';
import { deadLetterOptions, invalidOption, refuseUnknownKeys, resolveOptions } from '../options.js';
import { refuseId } from './refuse-id.js';
import { type PastFailure, pastFailures } from './stored-messages.js';

/** Which dead letters: of a stream, of a type, or both. */
export interface DeadLetterFilter {
  /** The id of the stream, as its definition makes it, or its UUID. */
  readonly streamId?: string | undefined;
  /** The type of the messages. */
  readonly type?: string | undefined;
}

/** Options of `deadLetters.list`. Without a filter: all. */
export interface DeadLetterListOptions extends DeadLetterFilter {
  /** The most to return. Default: 100. */
  readonly limit?: number | undefined;
  /** Returns those before this one: the `number` of the last one of the page before. */
  readonly before?: number | undefined;
}

/** A message that was given up. */
export interface DeadLetter {
  /** Its number: later dead letters have larger ones. */
  readonly number: number;
  readonly messageId: MessageId;
  /** `inbox`: it could not be handled. `outbox`: it could not be sent. */
  readonly source: 'outbox' | 'inbox';
  readonly type: string;
  /** The payload as it is stored: not validated, and sealed where it is sealed. */
  readonly payload: unknown;
  readonly scope: unknown;
  readonly streamId: StreamId | null;
  readonly attempts: number;
  /** The last failure, with its stack. */
  readonly error: string;
  /** The failures: the first one and the last nine. */
  readonly failures: readonly PastFailure[];
  readonly storedAt: Date;
  readonly diedAt: Date;
}

/** A dead letter that was discarded, or would be. */
export interface DiscardedLetter
  extends Pick<DeadLetter, 'number' | 'messageId' | 'source' | 'type' | 'streamId'> {}

/** A dead letter that was put back, or would be. */
export interface RetriedLetter extends DiscardedLetter {
  /** Whether unfinished messages of its stream are before it. */
  readonly isBehind: boolean;
}

/** Options of `deadLetters.retry` and `deadLetters.discard`. */
export interface DeadLetterActionOptions {
  /** True: only tells what it would do. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Who does it, for the list of operations. Default: the role and the application of the session. */
  readonly who?: string | undefined;
}

/** How many are put back or discarded in one transaction. Those of one stream go together, so that they keep their order. */
const pageSize = 1_000;
const streamSize = 100_000;

/** The dead letters of a service. */
export class DeadLetters {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Lists dead letters, the newest first. */
  async list(options: DeadLetterListOptions = {}): Promise<readonly DeadLetter[]> {
    const owner = 'deadLetters.list';
    const { limit, before } = resolveOptions(owner, deadLetterOptions, { ...options }, filterKeys);
    const choice = choiceOf(owner, options);
    const rows = await this.#access.ask(undefined, (db, schema) =>
      listDeadLetters(db, schema, choice, { limit, before }),
    );
    return rows.map(letterOf);
  }

  /** Returns the dead letter of a message, the last one if it has several. Undefined: it has none. */
  async get(messageId: MessageId): Promise<DeadLetter | undefined> {
    refuseId('deadLetters.get', messageId);
    const rows = await this.#access.ask(undefined, (db, schema) =>
      listDeadLetters(db, schema, { messageId }, { limit: 1 }),
    );
    return rows.map(letterOf)[0];
  }

  /**
   * Puts dead letters back: that of a message, or all of a stream or a type. They come at the end of their streams, in
   * the order in which they were stored, and have all their attempts again. Returns what it put back, in that order.
   */
  async retry(
    which: MessageId | DeadLetterFilter,
    options: DeadLetterActionOptions = {},
  ): Promise<readonly RetriedLetter[]> {
    const rows = await this.#pick('deadLetters.retry', retryDeadLetters, which, options);
    return rows.map((row) => ({ ...pickedOf(row), isBehind: row.is_behind === true }));
  }

  /** Deletes dead letters: that of a message, or all of a stream or a type. Returns what it deleted. */
  async discard(
    which: MessageId | DeadLetterFilter,
    options: DeadLetterActionOptions = {},
  ): Promise<readonly DiscardedLetter[]> {
    return (await this.#pick('deadLetters.discard', discardDeadLetters, which, options)).map(pickedOf);
  }

  /** Page by page, each a transaction of its own: however many there are, none of them takes long. */
  async #pick(
    owner: string,
    pick: typeof retryDeadLetters,
    which: MessageId | DeadLetterFilter,
    options: DeadLetterActionOptions,
  ): Promise<readonly PickedRow[]> {
    refuseUnknownKeys(owner, { ...options }, ['dryRun', 'who']);
    const { dryRun = false, who } = options;
    const choice = typeof which === 'string' ? { messageId: which } : choiceOf(owner, which);
    if (choice.messageId !== undefined) refuseId(owner, choice.messageId);
    else if (choice.streamId === undefined && choice.type === undefined) throw nothingChosen(owner);
    const limit = choice.streamId === undefined ? pageSize : streamSize;
    const picked: PickedRow[] = [];
    for (let after = 0; ; ) {
      const page = await this.#access.ask(undefined, (db, schema) =>
        pick(db, schema, choice, { dryRun, after, limit, who }),
      );
      picked.push(...page);
      if (page.length === 0) return picked;
      after = Math.max(...page.map((row) => row.dead_letter_id));
    }
  }
}

const filterKeys = ['streamId', 'type'];

function choiceOf(owner: string, filter: DeadLetterFilter): DeadLetterChoice {
  if (typeof filter !== 'object' || filter === null) throw nothingChosen(owner);
  const known = owner === 'deadLetters.list' ? [...filterKeys, 'limit', 'before'] : filterKeys;
  refuseUnknownKeys(owner, { ...filter }, known);
  const { streamId, type } = filter;
  return { streamId: streamId === undefined ? undefined : streamIdOf(streamId), type };
}

function nothingChosen(owner: string) {
  const hint =
    "Give the id of a message, { streamId } or { type }: deadLetters.retry({ type: 'ChargeCard' }).";
  return invalidOption(owner, 'which', 'it is not said which dead letters', hint);
}

const pickedOf = (row: PickedRow): DiscardedLetter => ({
  number: row.dead_letter_id,
  messageId: row.message_id,
  source: row.source,
  type: row.event_type,
  streamId: row.stream_id,
});

const letterOf = (row: DeadLetterRow): DeadLetter => ({
  ...pickedOf(row),
  payload: row.event_data,
  scope: row.scope,
  attempts: row.attempts,
  error: row.error ?? '',
  failures: pastFailures(row.failures ?? []),
  storedAt: new Date(row.stored_at),
  diedAt: new Date(row.died_at),
});
