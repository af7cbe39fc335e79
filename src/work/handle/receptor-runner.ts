// Runs the receptors of an inbox message, or of several in one transaction, and returns the outcome of each.
// In: inbox items whose leases this instance holds. Out: an outcome, or nothing to report because the
// handler's own transaction has completed the message. Called by the consumer worker, one message of a stream
// at a time. A transactional receptor's writes, the messages it sends and the completion commit together. The
// completion is fenced, so a lost lease rolls all of it back.
//
// The steps: find the receptors, then count an interruption. Read and check the message, run the task
// (task-runner.ts), turn an error into an outcome (failed-runs.ts). A message with several receptors goes
// through several-receptors.ts.
import type { WorkCoordinator } from '../../coordinator/index.js';
import type { Origin, OutboxWriter } from '../../dispatch/index.js';
import type { EventStore } from '../../events/index.js';
import type { Logger } from '../../logger.js';
import type { MessageId, WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { unreadableError } from '../publish/unreadable.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import { FailedRuns } from './failed-runs.js';
import { GroupRunner } from './group-runner.js';
import { failed, interruptedTooOften } from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import type { RetryPolicies } from './retry-policies.js';
import { SeveralReceptors } from './several-receptors.js';
import { Sharing } from './sharing.js';
import { nextStage } from './stages.js';
import { type InlineModels, TaskRunner } from './task-runner.js';

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
  readonly inline: InlineModels;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly logger: Logger;
}

export class ReceptorRunner<Tx> {
  readonly #options: ReceptorRunnerOptions<Tx>;
  readonly #failedRuns: FailedRuns<Tx>;
  readonly #tasks: TaskRunner<Tx>;
  readonly #groups: GroupRunner<Tx>;
  readonly #several: SeveralReceptors<Tx>;

  constructor(options: ReceptorRunnerOptions<Tx>) {
    this.#options = options;
    const {
      registry,
      coordinator,
      transaction,
      origin,
      outbox,
      events,
      inline,
      queue,
      records,
      policies,
      logger,
    } = options;
    const sharing = new Sharing<Tx>();
    const failedRuns = new FailedRuns<Tx>(logger);
    const tasks = new TaskRunner<Tx>({
      coordinator,
      transaction,
      origin,
      outbox,
      events,
      inline,
      queue,
      failedRuns,
      sharing,
      logger,
    });
    this.#failedRuns = failedRuns;
    this.#tasks = tasks;
    this.#groups = new GroupRunner<Tx>({ registry, tasks, failedRuns, sharing, logger });
    this.#several = new SeveralReceptors<Tx>({ records, policies, tasks, failedRuns });
  }

  /** Messages that their own transaction is about to complete. If a renewal misses one, it is not lost. */
  get settling(): ReadonlySet<MessageId> {
    return this.#tasks.settling;
  }

  async run(item: WorkItem, signal: AbortSignal): Promise<ItemOutcome> {
    const receptors = this.#options.registry.receptorsFor(item.destination);
    const [first] = receptors;
    if (first === undefined) return { kind: 'failed', completedStatus: 0, error: unreadableError(item) };
    const { runs, reports } = nextStage(item.status);
    if (runs !== 'receptors') return { kind: 'completed', status: reports };
    return receptors.length > 1
      ? this.#several.run(item, receptors, signal)
      : this.#runOnly(item, first, signal);
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

  async #runOnly(item: WorkItem, receptor: Receptor<Tx>, signal: AbortSignal): Promise<ItemOutcome> {
    const { records, policies } = this.#options;
    let interruptions: number;
    try {
      interruptions = await records.interruptionsOf(item);
    } catch (error) {
      return this.#failedRuns.notRun(error, item, receptor, { hasBegun: false, signal });
    }
    if (interruptions >= policies.maxInterruptions([receptor])) {
      return failed(receptor, interruptedTooOften(interruptions, [receptor]), true);
    }
    const attempt = item.attempts + 1;
    const begunAt = performance.now();
    const task = { item, receptor, attempt, isLast: true, isOneOfSeveral: false, signal, begunAt };
    return (await this.#tasks.run(task)) ?? { kind: 'settled' };
  }
}
