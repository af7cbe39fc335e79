// Runs the receptors of an inbox message, or of several in one transaction, and returns the outcome of each.
// In: inbox items whose leases this instance holds. Out: an outcome, or nothing to report because the
// handler's own transaction has completed the message. Called by the consumer worker, one message of a stream
// at a time. A transactional receptor's writes, the messages it sends and the completion commit together. The
// completion is fenced, so a lost lease rolls all of it back.
//
// The steps: find the receptors, then read what other runs have recorded. For each receptor that has not run
// yet: read and check the message, run the task (task-runner.ts), turn an error into an outcome
// (failed-runs.ts).
import type { WorkCoordinator } from '../../coordinator/index.js';
import type { Origin, OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import type { Logger } from '../../logger.js';
import { type MessageId, WorkBatchFlags, type WorkItem } from '../../message.js';
import type { Envelope } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { unreadableError } from '../publish/unreadable.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { RetryPolicies } from './decide-failure.js';
import { FailedRuns } from './failed-runs.js';
import { GroupRunner } from './group-runner.js';
import { failed, interruptedTooOften } from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import { Sharing } from './sharing.js';
import { handled, readFor } from './task.js';
import { TaskRunner } from './task-runner.js';

interface ReceptorRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly coordinator: WorkCoordinator;
  readonly records: ReceptorRecords;
  readonly policies: RetryPolicies<Tx>;
  readonly transaction: RunWatched<Tx>;
  /** Origin of the messages that the receptors send. */
  readonly origin: Origin;
  /** Stores the messages that are sent in a transaction, as a plain insert would. */
  readonly outbox: OutboxWriter;
  /** The event store, for decisions of receptors. */
  readonly events: EventStore;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly logger: Logger;
}

/** Records that other runs of the message have left. */
interface Past {
  readonly interruptions: number;
  readonly done: readonly string[];
}

export class ReceptorRunner<Tx> {
  readonly #options: ReceptorRunnerOptions<Tx>;
  readonly #failedRuns: FailedRuns<Tx>;
  readonly #tasks: TaskRunner<Tx>;
  readonly #groups: GroupRunner<Tx>;

  constructor(options: ReceptorRunnerOptions<Tx>) {
    this.#options = options;
    const { registry, coordinator, transaction, origin, outbox, events, queue, logger } = options;
    const sharing = new Sharing<Tx>();
    const failedRuns = new FailedRuns<Tx>(logger);
    const tasks = new TaskRunner<Tx>({
      coordinator,
      transaction,
      origin,
      outbox,
      events,
      queue,
      failedRuns,
      sharing,
      logger,
    });
    this.#failedRuns = failedRuns;
    this.#tasks = tasks;
    this.#groups = new GroupRunner<Tx>({ registry, tasks, failedRuns, sharing, logger });
  }

  /** Messages that their own transaction is about to complete. If a renewal misses one, it is not lost. */
  get settling(): ReadonlySet<MessageId> {
    return this.#tasks.settling;
  }

  async run(item: WorkItem, signal: AbortSignal): Promise<ItemOutcome> {
    const { registry, policies } = this.#options;
    const receptors = registry.receptorsFor(item.destination);
    const [first] = receptors;
    if (first === undefined) return { kind: 'failed', completedStatus: 0, error: unreadableError(item) };
    let past: Past;
    try {
      past = await this.#pastOf(item, receptors);
    } catch (error) {
      return this.#failedRuns.notRun(error, item, first, { hasBegun: false, signal });
    }
    if (past.interruptions >= policies.maxInterruptions(first)) {
      return failed(first, interruptedTooOften(past.interruptions), true);
    }
    const missing = receptors.filter(({ name }) => !past.done.includes(name));
    const isOneOfSeveral = receptors.length > 1;
    for (const [i, receptor] of missing.entries()) {
      let envelope: Envelope;
      try {
        envelope = await readFor(item, receptor, isOneOfSeveral);
      } catch (error) {
        // A retry cannot make a payload match its schema.
        return failed(receptor, error, error instanceof WhizbangError && error.code === 'INVALID_MESSAGE');
      }
      const isLast = i === missing.length - 1;
      const outcome = await this.#tasks.run({ item, envelope, receptor, isLast, isOneOfSeveral, signal });
      if (outcome !== undefined) return outcome;
    }
    return missing.length === 0 ? { kind: 'completed', status: handled } : { kind: 'settled' };
  }

  needsTransaction({ destination }: WorkItem): boolean {
    return this.#options.registry.receptorsFor(destination).some(({ transactional }) => transactional);
  }

  /** Returns whether it may be handled with others in one transaction. */
  mayShare(item: WorkItem): boolean {
    return this.#groups.mayShare(item);
  }

  /**
   * Handles the first message and those that `next` returns in one transaction. An undefined outcome means
   * that nothing was done and the message is to be run by itself.
   */
  runTogether(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
  ): Promise<readonly (ItemOutcome | undefined)[]> {
    return this.#groups.run(first, next);
  }

  async #pastOf(item: WorkItem, receptors: readonly Receptor<Tx>[]): Promise<Past> {
    const isOrphaned = (item.flags & WorkBatchFlags.Orphaned) !== 0;
    const interruptions = isOrphaned ? await this.#options.records.countInterruption(item.messageId) : 0;
    const done = receptors.length > 1 ? await this.#options.records.done(item.messageId) : [];
    return { interruptions, done };
  }
}
