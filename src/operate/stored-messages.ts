import { type FailureRow, findMessage } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { MessageId, StreamId } from '../message.js';
import { refuseId } from './refuse-id.js';

/**
 * The state of a message. `waiting`: it can be taken, or comes after messages of its stream that can. `scheduled`: it
 * was sent for a later time. `running`: an instance has it. `retrying`: it has failed and waits for its next attempt.
 * `blocked`: it is behind a message of its stream that waits for a time. `limited`: it waits at a limit of its receptor, or the
 * first message of its stream does. `unhandled`: no living instance has a receptor for it, or for the first message of
 * its stream. `paused`: an operator has paused its type, its stream, or
 * the intake. `givingUp`: it is given up, and `onGivenUp` has yet to
 * succeed. `dead`: it is a dead letter. `finished`: it was handled, or delivered. `unknown`: nothing is known of the
 * id; so it is also when a message has left for another service, and when retention has forgotten it.
 */
export type MessageState =
  | 'waiting'
  | 'scheduled'
  | 'running'
  | 'retrying'
  | 'blocked'
  | 'limited'
  | 'unhandled'
  | 'paused'
  | 'givingUp'
  | 'dead'
  | 'finished'
  | 'unknown';

/** A failed attempt of a message. */
export interface PastFailure {
  readonly at: Date;
  readonly attempt: number;
  readonly instanceId: string;
  readonly error: string;
}

/** A message as `messages.get` finds it. Of one that is finished or unknown, only little is known. */
export interface StoredMessage {
  readonly messageId: MessageId;
  readonly state: MessageState;
  /** The lane: `outbox` on its way out, `inbox` to be handled here. */
  readonly source?: 'outbox' | 'inbox';
  readonly type?: string;
  /** The payload as it is stored: not validated, and sealed where it is sealed. */
  readonly payload?: unknown;
  readonly scope?: unknown;
  readonly streamId?: StreamId;
  /** How many attempts have failed. */
  readonly attempts?: number;
  /** The last failure. */
  readonly error?: string;
  /** The failures: the first one and the last nine. */
  readonly failures?: readonly PastFailure[];
  readonly storedAt?: Date;
  /** When it is tried next. */
  readonly dueAt?: Date;
  /** The instance that has it. */
  readonly heldBy?: string;
  /** The first unfinished message of its stream, if that is another one. */
  readonly behind?: MessageId;
}

/** The messages of a service, for who operates it. */
export class StoredMessages {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Finds a message and its state: in the inbox, else in the outbox, else among the dead letters. */
  async get(messageId: MessageId): Promise<StoredMessage> {
    refuseId('messages.get', messageId);
    const row = await this.#access.ask(undefined, (db, schema) => findMessage(db, schema, messageId));
    if (row === undefined) return { messageId, state: 'unknown' };
    return {
      messageId,
      state: row.state as MessageState,
      source: row.source,
      storedAt: new Date(row.stored_at),
      ...known({
        type: row.event_type,
        payload: row.event_data,
        scope: row.scope,
        streamId: row.stream_id,
        attempts: row.attempts,
        error: row.error,
        failures: row.failures && pastFailures(row.failures),
        dueAt: row.due_at === null ? null : new Date(row.due_at),
        heldBy: row.held_by,
        behind: row.behind,
      }),
    };
  }
}

export const pastFailures = (rows: readonly FailureRow[]): readonly PastFailure[] =>
  rows.map(({ at, attempt, instance_id: instanceId, error }) => ({
    at: new Date(at),
    attempt,
    instanceId,
    error,
  }));

/** Leaves out what is null. */
function known<T extends object>(facts: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const entries = Object.entries(facts).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as { [Key in keyof T]?: NonNullable<T[Key]> };
}
