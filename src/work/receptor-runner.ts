// Runs the receptors of one inbox message and says what became of it.
// In: an inbox item whose lease this instance holds. Out: an outcome, or nothing to report because the handler's own
// transaction has completed the message. Called by the consumer worker, one message of a stream at a time.
// A transactional receptor's writes, the messages it sends and the completion commit together; the completion is fenced, so
// a lease that was lost rolls all of it back.
import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '../connection.js';
import type { WorkCoordinator } from '../coordinator/index.js';
import { serverErrorOf } from '../database-error.js';
import type { Dispatcher, OutboxWriter } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import {
  type MessageId,
  MessageProcessingStatus,
  type NewOutboxMessage,
  WorkBatchFlags,
  type WorkItem,
} from '../message.js';
import { type Envelope, readEnvelope } from '../messages/index.js';
import type { Receptor } from '../receptors/index.js';
import type { QueuedUnit, WorkUnit } from '../strategies/index.js';
import { BrokenConnections, isBrokenConnection, isNoConnection } from './broken-connections.js';
import { outageFacts } from './describe-error.js';
import { isLeaseLost } from './lease-lost.js';
import type { ItemOutcome } from './ordered-stream-processor.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import { runHandler } from './run-handler.js';
import type { RunWatched } from './transaction-watch.js';
import { unreadableError } from './unreadable.js';

export interface ReceptorRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly coordinator: WorkCoordinator;
  readonly records: ReceptorRecords;
  /** How often the instance of a message may have died or stalled. */
  readonly maxInterruptions: (receptor: Receptor<Tx>) => number;
  readonly transaction: RunWatched<Tx>;
  /** A dispatcher whose messages continue the given one and go to the given writer. */
  readonly dispatcherFor: (parent: Envelope, outbox: OutboxWriter) => Dispatcher;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly logger: Logger;
}

/** Why a message was not handled, with the receptor whose retry policy decides what comes next. */
export class ReceptorError<Tx> {
  readonly receptor: Receptor<Tx>;
  readonly cause: unknown;
  /** Trying again cannot help. */
  readonly isFinal: boolean;

  constructor(receptor: Receptor<Tx>, cause: unknown, isFinal: boolean) {
    this.receptor = receptor;
    this.cause = cause;
    this.isFinal = isFinal;
  }
}

/** What other runs have left behind. */
interface Past {
  readonly interruptions: number;
  readonly done: readonly string[];
}

/** How long a message is kept for which there was no connection, before it is given back. */
const noConnectionMs = 500;

const handled = MessageProcessingStatus.ReceptorProcessed | MessageProcessingStatus.PerspectiveProcessed;

export class ReceptorRunner<Tx> {
  readonly #options: ReceptorRunnerOptions<Tx>;
  /** Messages whose own transaction is about to complete them: a renewal may find them gone, which is no loss. */
  readonly settling = new Set<MessageId>();
  readonly #brokenConnections = new BrokenConnections();

  constructor(options: ReceptorRunnerOptions<Tx>) {
    this.#options = options;
  }

  async run(item: WorkItem, signal: AbortSignal): Promise<ItemOutcome> {
    const receptors = this.#options.registry.receptorsFor(item.destination);
    const [first] = receptors;
    if (first === undefined) return { kind: 'failed', completedStatus: 0, error: unreadableError(item) };
    let past: Past;
    try {
      past = await this.#pastOf(item, receptors);
    } catch (error) {
      return this.#notRun(item, first, error, { hasBegun: false, signal });
    }
    if (past.interruptions >= this.#options.maxInterruptions(first)) {
      return failed(first, interruptedTooOften(past.interruptions), true);
    }
    const missing = receptors.filter(({ name }) => !past.done.includes(name));
    for (const [i, receptor] of missing.entries()) {
      const isLast = i === missing.length - 1;
      let envelope: Envelope;
      try {
        envelope = await this.#read(item, receptor, receptors.length > 1);
      } catch (error) {
        // A payload that does not fit its schema will not fit it next time.
        return failed(receptor, error, error instanceof WhizbangError && error.code === 'INVALID_MESSAGE');
      }
      const outcome = await this.#runOne(item, envelope, receptor, isLast, receptors.length > 1, signal);
      if (outcome !== undefined) return outcome;
    }
    return missing.length === 0 ? { kind: 'completed', status: handled } : { kind: 'settled' };
  }

  async #pastOf(item: WorkItem, receptors: readonly Receptor<Tx>[]): Promise<Past> {
    const isOrphaned = (item.flags & WorkBatchFlags.Orphaned) !== 0;
    const interruptions = isOrphaned ? await this.#options.records.countInterruption(item.messageId) : 0;
    const done = receptors.length > 1 ? await this.#options.records.done(item.messageId) : [];
    return { interruptions, done };
  }

  /** With several receptors each gets a payload of its own: what one changes in it must not reach the next. */
  #read(item: WorkItem, { definition }: Receptor<Tx>, isOneOfSeveral: boolean): Promise<Envelope> {
    return readEnvelope(
      isOneOfSeveral ? { ...item, eventData: structuredClone(item.eventData) } : item,
      definition,
    );
  }

  /** Undefined: it went well, and all that is to be said about it was said or queued. */
  async #runOne(
    item: WorkItem,
    envelope: Envelope,
    receptor: Receptor<Tx>,
    isLast: boolean,
    isOneOfSeveral: boolean,
    signal: AbortSignal,
  ): Promise<ItemOutcome | undefined> {
    const { logger, queue } = this.#options;
    const { messageId } = item;
    const reportOf = (newOutboxMessages: readonly NewOutboxMessage[]): WorkUnit => ({
      newOutboxMessages,
      receptorCompletions: isOneOfSeveral
        ? [
            {
              eventId: messageId,
              receptorName: receptor.name,
              status: MessageProcessingStatus.ReceptorProcessed,
            },
          ]
        : [],
      inboxCompletions: isLast ? [{ messageId, status: handled }] : [],
    });
    const step = (name: string) => logger.debug({ step: name, messageId, type: item.eventType }, 'receptor');
    let hasBegun = !receptor.transactional;
    let isSettled = false;
    let thrown: { readonly error: unknown } | undefined;
    try {
      if (!receptor.transactional) {
        step('starting');
        const messages = await this.#handle(item, envelope, receptor, undefined, signal);
        step('handled');
        if (isLeaseLost(signal.reason)) return { kind: 'forgotten' };
        // One that comes late is refused, and then what was sent must not leave either: whoever has the message now sends it.
        const { carried } = queue({
          ...reportOf(messages.map((message) => ({ ...message, onlyWith: messageId }))),
          renewInboxLeaseIds: isLast ? [] : [messageId],
        });
        // A message that PostgreSQL refuses, for its version say, is a failure of the handler that sent it.
        if (messages.length > 0) await carried;
        return undefined;
      }
      step('starting');
      await this.#options.transaction(async (tx, watched) => {
        isSettled = false; // whoever begins a transaction may begin another when it failed
        try {
          hasBegun = true;
          step('begun');
          const messages = await this.#handle(item, envelope, receptor, tx, watched.signal);
          step('handled');
          // The fence would let us through if we had lost the message and got it again meanwhile.
          if (isLeaseLost(signal.reason)) throw signal.reason;
          watched.refuseGivenUp();
          this.settling.add(messageId);
          await this.#settle(reportOf(messages), isLast ? [] : [messageId], watched.db);
          isSettled = true;
          step('settled');
        } catch (error) {
          thrown = { error };
          throw error;
        }
      }, signal);
      // A `transaction` that keeps errors to itself must not make the message pass for handled.
      if (!isSettled) throw thrown === undefined ? notBegun() : thrown.error;
      step('committed');
      this.#brokenConnections.forget(messageId);
      return undefined;
    } catch (error) {
      if (isLeaseLost(error)) return { kind: 'forgotten' };
      if (signal.aborted) return { kind: 'released' }; // there was no more time for it: no fault of the message
      // Perhaps only the commit's answer was lost. If it was committed, the message is gone and this is refused.
      const isUnknown = isSettled && serverErrorOf(error) === undefined;
      return this.#notRun(item, receptor, error, { hasBegun, isUnknown, signal });
    } finally {
      this.settling.delete(messageId);
    }
  }

  /**
   * Given back when it was no fault of the message, or its end is not known: a few times, for both may be its doing. One
   * that found no connection to begin with has done nothing, and is given back as often as it takes, but not in a tight
   * loop: it would be handed out again at once.
   */
  async #notRun(
    { messageId }: WorkItem,
    receptor: Receptor<Tx>,
    error: unknown,
    { hasBegun, isUnknown = false, signal }: { hasBegun: boolean; isUnknown?: boolean; signal: AbortSignal },
  ): Promise<ItemOutcome> {
    const foundNone = !hasBegun && (isNoConnection(error) || isBrokenConnection(error));
    if (!foundNone && !this.#brokenConnections.forgives(messageId, error, isUnknown)) {
      return failed(receptor, error, false);
    }
    this.#options.logger.warn(
      { messageId, ...outageFacts(error) },
      foundNone
        ? 'There was no connection for a receptor; it is run again'
        : 'The connection of a receptor broke, or its commit was not answered; it is run again',
    );
    if (foundNone) await pause(noConnectionMs, undefined, { signal }).catch(() => {});
    return { kind: 'released' };
  }

  async #handle(
    item: WorkItem,
    envelope: Envelope,
    receptor: Receptor<Tx>,
    tx: Tx | undefined,
    signal: AbortSignal,
  ): Promise<readonly NewOutboxMessage[]> {
    const sent: NewOutboxMessage[] = [];
    const dispatcher = this.#options.dispatcherFor(envelope, {
      store: async (messages) => void sent.push(...messages),
    });
    await runHandler(receptor, { envelope, tx, attempt: item.attempts + 1, signal, dispatcher });
    return sent;
  }

  /** In the handler's transaction, as its last statement: it locks the stream's row until the commit. */
  async #settle(unit: WorkUnit, renewInboxLeaseIds: readonly string[], db: Queryable): Promise<void> {
    const request = {
      ...unit,
      renewInboxLeaseIds,
      maxOutboxItems: 0,
      maxInboxItems: 0,
      maxPerspectiveItems: 0,
    };
    const { leaseLost } = await this.#options.coordinator.processWorkBatch(request, db);
    const [lost] = leaseLost;
    if (lost === undefined) return;
    // So that it cannot be committed, whatever is made of the error below.
    await db.query(`select 'the lease of this message was lost'::int`).catch(() => {});
    throw new WhizbangError('LEASE_LOST', {
      message: `The lease on message ${lost.messageId} was lost while it was handled.`,
      details: { messageId: lost.messageId },
    });
  }
}

function failed<Tx>(receptor: Receptor<Tx>, error: unknown, isFinal: boolean): ItemOutcome {
  return { kind: 'failed', completedStatus: 0, error: new ReceptorError(receptor, error, isFinal) };
}

function notBegun(): Error {
  return new Error('The transaction that was given to createWhizbang has not run the receptor.');
}

function interruptedTooOften(interruptions: number): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `${interruptions} instances died or stalled that had this message, and may have been running it.`,
    hint: 'Look for what they died of: memory, a crash in native code. Then put the message back.',
  });
}
