// What becomes of a message whose receptor did not come to its end: given back, forgotten or failed.
// In: what was thrown, and how far it had come. Out: an outcome. Asked by those who run receptors.
// It never runs anything, and decides nothing about another attempt: that is decide-failure.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { serverErrorOf } from '../../database/index.js';
import { outageFacts } from '../../describe-error.js';
import type { Logger } from '../../logger.js';
import type { MessageId, WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome } from '../streams/processor-options.js';
import { BrokenConnections, isBrokenConnection, isNoConnection } from '../transaction/broken-connections.js';
import { failed } from './receptor-error.js';
import type { Task } from './task.js';

/** How far a run had come. */
interface Progress {
  /** It had a connection, or needed none. */
  readonly hasBegun: boolean;
  /** All was done but the commit. */
  readonly isSettled: boolean;
}

/** How long a message is kept for which there was no connection, before it is given back. */
const noConnectionMs = 500;

export class FailedRuns<Tx> {
  readonly #logger: Logger;
  readonly #brokenConnections = new BrokenConnections();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** One that may have broken a connection is watched alone. */
  isSuspect(messageId: MessageId): boolean {
    return this.#brokenConnections.has(messageId);
  }

  succeeded(messageId: MessageId): void {
    this.#brokenConnections.forget(messageId);
  }

  outcomeOf(
    error: unknown,
    { item, receptor, signal }: Pick<Task<Tx>, 'item' | 'receptor' | 'signal'>,
    { hasBegun, isSettled }: Progress,
  ): Promise<ItemOutcome> | ItemOutcome {
    if (isLeaseLost(error)) return { kind: 'forgotten' };
    if (signal.aborted) return { kind: 'released' }; // there was no more time for it: no fault of the message
    const isUnknown = isSettled && isUnanswered(error);
    return this.notRun(error, item, receptor, { hasBegun, isUnknown, signal });
  }

  /** Only its own lease, the end of its own time and an end that is not known count. Undefined: it is run by itself. */
  async outcomeInGroup(
    error: unknown,
    { item, receptor, signal }: Pick<Task<Tx>, 'item' | 'receptor' | 'signal'>,
    { lost, isSettled }: { readonly lost: readonly MessageId[]; readonly isSettled: boolean },
  ): Promise<ItemOutcome | undefined> {
    if (isLeaseLost(signal.reason) || lost.includes(item.messageId)) return { kind: 'forgotten' };
    if (signal.aborted) return { kind: 'released' };
    if (!isSettled || !isUnanswered(error)) return undefined;
    return this.notRun(error, item, receptor, { hasBegun: true, isUnknown: true, signal });
  }

  /**
   * Given back when it was no fault of the message, or its end is not known: a few times, for both may be its doing. One
   * that found no connection to begin with has done nothing, and is given back as often as it takes, but not in a tight
   * loop: it would be handed out again at once.
   */
  async notRun(
    error: unknown,
    { messageId }: WorkItem,
    receptor: Receptor<Tx>,
    { hasBegun, isUnknown = false, signal }: { hasBegun: boolean; isUnknown?: boolean; signal: AbortSignal },
  ): Promise<ItemOutcome> {
    const foundNone = !hasBegun && (isNoConnection(error) || isBrokenConnection(error));
    if (!foundNone && !this.#brokenConnections.forgives(messageId, error, isUnknown)) {
      return failed(receptor, error, false);
    }
    this.#logger.warn(
      { messageId, ...outageFacts(error) },
      foundNone
        ? 'There was no connection for a receptor; it is run again'
        : 'The connection of a receptor broke, or its commit was not answered; it is run again',
    );
    if (foundNone) await pause(noConnectionMs, undefined, { signal }).catch(() => {});
    return { kind: 'released' };
  }
}

/** Perhaps only the commit's answer was lost. If it was committed, the message is gone and a release of it is refused. */
const isUnanswered = (error: unknown) => serverErrorOf(error) === undefined;
