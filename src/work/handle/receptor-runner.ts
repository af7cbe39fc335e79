// Runs the receptors of an inbox message, or of several in one transaction, and says what became of each.
// In: inbox items whose leases this instance holds. Out: an outcome, or nothing to report because the handler's own
// transaction has completed the message. Called by the consumer worker, one message of a stream at a time.
// A transactional receptor's writes, the messages it sends and the completion commit together; the completion is fenced, so
// a lease that was lost rolls all of it back. Nobody fails for what went wrong in company: then each is run by itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkCoordinator } from '../../coordinator/index.js';
import { serverErrorOf } from '../../database/index.js';
import { outageFacts } from '../../describe-error.js';
import type { Dispatcher, OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { type MessageId, type NewOutboxMessage, WorkBatchFlags, type WorkItem } from '../../message.js';
import { type Envelope, readEnvelope } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import { unreadableError } from '../publish/unreadable.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import { BrokenConnections, isBrokenConnection, isNoConnection } from '../transaction/broken-connections.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import { failed, interruptedTooOften } from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import { handled, reportOf, type Task } from './receptor-report.js';
import { ReceptorTransaction } from './receptor-transaction.js';
import { runHandler } from './run-handler.js';
import { Sharing } from './sharing.js';

export interface ReceptorRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly coordinator: WorkCoordinator;
  readonly records: ReceptorRecords;
  /** How often the instance of a message may have died or stalled. */
  readonly maxInterruptions: (receptor: Receptor<Tx>) => number;
  readonly transaction: RunWatched<Tx>;
  /** A dispatcher whose messages continue the given one and go to the given writer. */
  readonly dispatcherFor: (parent: Envelope, outbox: OutboxWriter) => Dispatcher;
  /** Stores what is sent in a transaction, as a plain insert would. */
  readonly storeIn: (messages: readonly NewOutboxMessage[], tx: unknown) => Promise<void>;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly logger: Logger;
}

/** What other runs have left behind. */
interface Past {
  readonly interruptions: number;
  readonly done: readonly string[];
}

/** How long a message is kept for which there was no connection, before it is given back. */
const noConnectionMs = 500;
/** No more join a transaction that has been open for so long: it has locks, and those it has handled wait for their commit. */
const longestOpenMs = 50;

export class ReceptorRunner<Tx> {
  readonly #options: ReceptorRunnerOptions<Tx>;
  /** Messages whose own transaction is about to complete them: a renewal may find them gone, which is no loss. */
  readonly settling = new Set<MessageId>();
  readonly #brokenConnections = new BrokenConnections();
  readonly #sharing = new Sharing<Tx>();

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
    const isOneOfSeveral = receptors.length > 1;
    for (const [i, receptor] of missing.entries()) {
      const isLast = i === missing.length - 1;
      let envelope: Envelope;
      try {
        envelope = await this.#read(item, receptor, isOneOfSeveral);
      } catch (error) {
        // A payload that does not fit its schema will not fit it next time.
        return failed(receptor, error, error instanceof WhizbangError && error.code === 'INVALID_MESSAGE');
      }
      const task = { item, envelope, receptor, isLast, isOneOfSeveral, signal };
      const outcome = receptor.transactional
        ? await this.#runInTransaction(task)
        : await this.#runWithout(task);
      if (outcome !== undefined) return outcome;
    }
    return missing.length === 0 ? { kind: 'completed', status: handled } : { kind: 'settled' };
  }

  needsTransaction({ destination }: WorkItem): boolean {
    return this.#options.registry.receptorsFor(destination).some(({ transactional }) => transactional);
  }

  /** Whether it may be handled with others, in one transaction. One that may have broken a connection is watched alone. */
  mayShare(item: WorkItem): boolean {
    return (
      this.#sharing.allows(item, this.#options.registry.receptorsFor(item.destination)) &&
      !this.#brokenConnections.has(item.messageId)
    );
  }

  /** Handles them, as many as `next` gives, in one transaction. Undefined of one: nothing was done, and it is to be run by itself. */
  async runTogether(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
  ): Promise<readonly (ItemOutcome | undefined)[]> {
    const started = [first];
    const firstTask = await this.#taskOf(first);
    const transaction = this.#transaction();
    try {
      await transaction.run(firstTask, async () => {
        if (transaction.openMs > longestOpenMs) return undefined;
        const another = next();
        if (another === undefined) return undefined;
        started.push(another);
        return this.#taskOf(another);
      });
      return started.map(() => ({ kind: 'settled' }));
    } catch (error) {
      if (started.length === 1) return [await this.#outcomeOf(error, firstTask, transaction)];
      this.#options.logger.debug({ count: started.length, ...outageFacts(error) }, 'handled one by one');
      this.#sharing.failed(
        started.map(({ item }) => this.#onlyReceptorOf(item)),
        transaction.openMs,
      );
      return Promise.all(started.map((each) => this.#outcomeInGroup(error, each, transaction)));
    }
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

  #onlyReceptorOf({ destination }: WorkItem): Receptor<Tx> {
    return this.#options.registry.receptorsFor(destination)[0] as Receptor<Tx>;
  }

  async #taskOf({ item, signal }: StartedItem<WorkItem>): Promise<Task<Tx>> {
    const receptor = this.#onlyReceptorOf(item);
    const envelope = await this.#read(item, receptor, false);
    return { item, envelope, receptor, isLast: true, isOneOfSeveral: false, signal };
  }

  /** Undefined: it went well, and all that is to be said about it was said or queued. */
  async #runWithout(task: Task<Tx>): Promise<ItemOutcome | undefined> {
    const { item, signal } = task;
    const onlyWith = item.messageId;
    try {
      this.#step('starting', item);
      const messages = await this.#handle(task, undefined, signal);
      this.#step('handled', item);
      if (isLeaseLost(signal.reason)) return { kind: 'forgotten' };
      // One that comes late is refused, and then what was sent must not leave either: whoever has the message now sends it.
      const sent = messages.map((message) => ({ ...message, onlyWith }));
      const { carried } = this.#options.queue(reportOf([task], sent));
      // A message that PostgreSQL refuses, for its version say, is a failure of the handler that sent it.
      if (messages.length > 0) await carried;
      return undefined;
    } catch (error) {
      return this.#outcomeOf(error, task, { hasBegun: true, isSettled: false });
    }
  }

  /** Undefined: it is committed. */
  async #runInTransaction(task: Task<Tx>): Promise<ItemOutcome | undefined> {
    const transaction = this.#transaction();
    try {
      await transaction.run(task, async () => undefined);
      this.#brokenConnections.forget(task.item.messageId);
      return undefined;
    } catch (error) {
      return this.#outcomeOf(error, task, transaction);
    }
  }

  #transaction(): ReceptorTransaction<Tx> {
    return new ReceptorTransaction<Tx>({
      ...this.#options,
      settling: this.settling,
      store: (messages, tx) => this.#options.storeIn(messages, tx),
      handle: (task, tx, signal) => this.#handle(task, tx, signal),
      onStep: (step, item) => this.#step(step, item),
    });
  }

  #step(step: string, { messageId, eventType }: WorkItem): void {
    this.#options.logger.debug({ step, messageId, type: eventType }, 'receptor');
  }

  #outcomeOf(
    error: unknown,
    { item, receptor, signal }: Task<Tx>,
    { hasBegun, isSettled }: Pick<ReceptorTransaction<Tx>, 'hasBegun' | 'isSettled'>,
  ): Promise<ItemOutcome> | ItemOutcome {
    if (isLeaseLost(error)) return { kind: 'forgotten' };
    if (signal.aborted) return { kind: 'released' }; // there was no more time for it: no fault of the message
    const isUnknown = isSettled && isUnanswered(error);
    return this.#notRun(item, receptor, error, { hasBegun, isUnknown, signal });
  }

  /** Only its own lease, the end of its own time and an end that is not known count. For all else it is run by itself. */
  async #outcomeInGroup(
    error: unknown,
    { item, signal }: StartedItem<WorkItem>,
    { lost, isSettled }: ReceptorTransaction<Tx>,
  ): Promise<ItemOutcome | undefined> {
    if (isLeaseLost(signal.reason) || lost.includes(item.messageId)) return { kind: 'forgotten' };
    if (signal.aborted) return { kind: 'released' };
    if (!isSettled || !isUnanswered(error)) return undefined;
    return this.#notRun(item, this.#onlyReceptorOf(item), error, { hasBegun: true, isUnknown: true, signal });
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
    { item, envelope, receptor }: Task<Tx>,
    tx: Tx | undefined,
    signal: AbortSignal,
  ): Promise<readonly NewOutboxMessage[]> {
    const sent: NewOutboxMessage[] = [];
    const dispatcher = this.#options.dispatcherFor(envelope, {
      store: async (messages) => void sent.push(...messages),
    });
    const begunAt = performance.now();
    try {
      await runHandler(receptor, { envelope, tx, attempt: item.attempts + 1, signal, dispatcher });
    } finally {
      this.#sharing.took(receptor, performance.now() - begunAt);
    }
    return sent;
  }
}

/** Perhaps only the commit's answer was lost. If it was committed, the message is gone and a release of it is refused. */
const isUnanswered = (error: unknown) => serverErrorOf(error) === undefined;
