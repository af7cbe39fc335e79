// The outcome of a message whose receptor did not finish: given back, forgotten or failed.
// In: what was thrown, and how far the run had come. Out: an outcome. Called by the runners of receptors.
// It never runs anything, and never decides about a retry: decide-failure.ts does.
import { setTimeout as pause } from 'node:timers/promises';
import { serverErrorOf } from '../../database/index.js';
import { outageFacts } from '../../describe-error.js';
import type { Logger } from '../../logger.js';
import type { MessageId, WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import { BrokenConnections, isBrokenConnection, isNoConnection } from '../transaction/broken-connections.js';
import { failed } from './receptor-error.js';
import type { Task } from './task.js';

/** How far a run had come when it failed. */
interface Progress {
  /** Whether it had a connection, or needed none. */
  readonly hasBegun: boolean;
  /** Whether everything was done except the commit. */
  readonly isSettled: boolean;
}

/** Time for which a message is kept that found no connection, before it is given back. */
const noConnectionMs = 500;

export class FailedRuns<Tx> {
  readonly #logger: Logger;
  readonly #brokenConnections = new BrokenConnections();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns whether the message may have broken a connection. Such a message is run alone. */
  isSuspect(messageId: MessageId): boolean {
    return this.#brokenConnections.has(messageId);
  }

  succeeded(messageId: MessageId): void {
    this.#brokenConnections.forget(messageId);
  }

  outcomeOf(
    error: unknown,
    { started, receptor }: Pick<Task<Tx>, 'started' | 'receptor'>,
    { hasBegun, isSettled }: Progress,
  ): Promise<ItemOutcome> | ItemOutcome {
    if (isLeaseLost(error)) return { kind: 'forgotten' };
    if (started.aborted) return { kind: 'released' }; // its time was up: not the fault of the message
    const isUnknown = isSettled && isUnanswered(error);
    return this.notRun(error, started, receptor, { hasBegun, isUnknown });
  }

  /**
   * Returns the outcome of one message of a group: only its own lost lease, its own abort and an unanswered
   * commit count. Undefined: the message is run by itself.
   */
  async outcomeInGroup(
    error: unknown,
    { started, receptor }: Pick<Task<Tx>, 'started' | 'receptor'>,
    { lost, isSettled }: { readonly lost: readonly MessageId[]; readonly isSettled: boolean },
  ): Promise<ItemOutcome | undefined> {
    if (isLeaseLost(started.reason) || lost.includes(started.item.messageId)) return { kind: 'forgotten' };
    if (started.aborted) return { kind: 'released' };
    if (!isSettled || !isUnanswered(error)) return undefined;
    return this.notRun(error, started, receptor, { hasBegun: true, isUnknown: true });
  }

  /**
   * Gives the message back when its connection broke or its commit was not answered. It does so only a few
   * times, because the message may be the cause of both. A message that found no connection has done nothing,
   * and is given back without limit. A pause prevents a tight loop, because the message is handed out again
   * at once.
   */
  async notRun(
    error: unknown,
    started: StartedItem<WorkItem>,
    receptor: Receptor<Tx> | undefined,
    { hasBegun, isUnknown = false }: { hasBegun: boolean; isUnknown?: boolean },
  ): Promise<ItemOutcome> {
    const { messageId } = started.item;
    const foundNone = !hasBegun && (isNoConnection(error) || isBrokenConnection(error));
    if (!foundNone && !this.#brokenConnections.forgives(messageId, error, isUnknown)) {
      return failed(receptor, error, false);
    }
    this.#logger.warn(
      { messageId, ...outageFacts(error) },
      foundNone
        ? 'No connection was available for a receptor; it will run again'
        : 'The connection of a receptor broke, or its commit was not answered; it will run again',
    );
    if (foundNone) await pause(noConnectionMs, undefined, { signal: started.signal }).catch(() => {});
    return { kind: 'released' };
  }
}

/**
 * Whether the server sent no error. Then perhaps only the answer to the commit was lost. If it was committed,
 * the message is gone and a release of it is refused.
 */
const isUnanswered = (error: unknown) => serverErrorOf(error) === undefined;
