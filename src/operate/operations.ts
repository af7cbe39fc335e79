// What an operator does to a running service from code. Each action is a function of the schema, which a role may be granted, and is
// written down with who did it. In: ids, a reason. Out: whether it changed something.
import {
  giveUp,
  type PauseTarget,
  pause,
  releaseInstance,
  releaseStream,
  resume,
  retryNow,
} from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { MessageId } from '../message.js';
import { streamIdOf } from '../messages/index.js';
import { invalidOption, refuseUnknownKeys } from '../options.js';
import { isUuid } from '../uuid.js';
import { listOperations, listPauses, type Operation, type Pause } from './journal.js';
import { refuseId } from './refuse-id.js';

/** Options of what an operator does. */
export interface OperationOptions {
  /** Who does it, for the list of operations. Default: the role and the application of the session. */
  readonly who?: string | undefined;
}

/** Options of what an operator gives a reason for. */
export interface ReasonedOperationOptions extends OperationOptions {
  readonly reason?: string | undefined;
}

/** What is paused or resumed: all messages of a type, a stream, or all that the service handles. */
export type Pausable = { readonly type: string } | { readonly streamId: string } | 'intake';

/** What operators do to a service, and what they have done. */
export class Operations {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Tries a message again now that waits for its next attempt or its time. Returns whether it waited. */
  async retryNow(messageId: MessageId, options: OperationOptions = {}): Promise<boolean> {
    refuseId('operations.retryNow', messageId);
    const { who } = checked('operations.retryNow', options, ['who']);
    return this.#access.ask(undefined, (db, schema) => retryNow(db, schema, messageId, who));
  }

  /** Gives up a message that is not finished: it becomes a dead letter, and its stream goes on. */
  async giveUp(messageId: MessageId, options: ReasonedOperationOptions = {}): Promise<boolean> {
    refuseId('operations.giveUp', messageId);
    const { who, reason } = checked('operations.giveUp', options, ['who', 'reason']);
    return this.#access.ask(undefined, (db, schema) => giveUp(db, schema, messageId, reason, who));
  }

  /** Ends the leases on a stream: others may take it, and what its holder reports later is refused. */
  async releaseStream(streamId: string, options: OperationOptions = {}): Promise<boolean> {
    const { who } = checked('operations.releaseStream', options, ['who']);
    const id = streamIdOf(streamId);
    return this.#access.ask(undefined, (db, schema) => releaseStream(db, schema, id, who));
  }

  /** Ends all leases of an instance. Returns how many streams and bookmarks it held. */
  async releaseInstance(instanceId: string, options: OperationOptions = {}): Promise<number> {
    const owner = 'operations.releaseInstance';
    if (!isUuid(instanceId)) {
      const hint = 'Give the instanceId as the command `whizbang instances` prints it. It is a UUID.';
      throw invalidOption(
        owner,
        'instanceId',
        `${JSON.stringify(instanceId)} is not the id of an instance`,
        hint,
      );
    }
    const { who } = checked(owner, options, ['who']);
    return this.#access.ask(undefined, (db, schema) => releaseInstance(db, schema, instanceId, who));
  }

  /** Pauses: nothing of it is handed out any more, and what arrives waits. Returns false if it was paused already. */
  async pause(what: Pausable, options: ReasonedOperationOptions = {}): Promise<boolean> {
    const { who, reason } = checked('operations.pause', options, ['who', 'reason']);
    const target = targetOf('operations.pause', what);
    return this.#access.ask(undefined, (db, schema) => pause(db, schema, target, reason, who));
  }

  /** Resumes what was paused. Returns false if it was not. */
  async resume(what: Pausable, options: OperationOptions = {}): Promise<boolean> {
    const { who } = checked('operations.resume', options, ['who']);
    const target = targetOf('operations.resume', what);
    return this.#access.ask(undefined, (db, schema) => resume(db, schema, target, who));
  }

  /** What is paused, the oldest first. */
  async pauses(): Promise<readonly Pause[]> {
    return this.#access.ask(undefined, listPauses);
  }

  /** What operators have done, the newest first. */
  async list(
    options: { readonly limit?: number; readonly before?: number } = {},
  ): Promise<readonly Operation[]> {
    const { limit = 100, before } = checked('operations.list', options, ['limit', 'before']);
    return this.#access.ask(undefined, (db, schema) => listOperations(db, schema, { limit, before }));
  }
}

function checked<T extends object>(owner: string, options: T, known: readonly string[]): T {
  refuseUnknownKeys(owner, { ...options } as Record<string, unknown>, known);
  return options;
}

function targetOf(owner: string, what: Pausable): PauseTarget {
  if (what === 'intake') return { kind: 'intake' };
  if (typeof what === 'object' && what !== null) {
    if ('type' in what && typeof what.type === 'string' && what.type !== '')
      return { kind: 'type', name: what.type };
    if ('streamId' in what) return { kind: 'stream', name: streamIdOf(what.streamId) };
  }
  const hint = "Give { type: 'ChargeCard' }, { streamId } or 'intake'.";
  throw invalidOption(owner, 'what', `${JSON.stringify(what)} cannot be paused`, hint);
}
