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
import { type MessageId, MessageProcessingStatus, type WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { unreadableError } from '../publish/unreadable.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import { BatchReceptorRunner } from './batch-runner.js';
import type { DecisionListeners } from './failed-attempt.js';
import { FailedRuns } from './failed-runs.js';
import { GivingUp } from './giving-up.js';
import { GroupRunner } from './group-runner.js';
import { failed, interruptedTooOften } from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import type { RetryPolicies } from './retry-policies.js';
import { SeveralReceptors } from './several-receptors.js';
import { Sharing } from './sharing.js';
import { nextStage } from './stages.js';
import type { Task } from './task.js';
import { type HandlingTelemetry, type InlineModels, TaskRunner } from './task-runner.js';

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
  readonly telemetry: HandlingTelemetry;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly onGivenUp: DecisionListeners['onGivenUp'];
  /** Called when a receptor has handled a message. */
  readonly onHandled: (task: Task<Tx>) => void;
  readonly logger: Logger;
}

export class ReceptorRunner<Tx> {
  readonly #options: ReceptorRunnerOptions<Tx>;
  readonly #failedRuns: FailedRuns<Tx>;
  readonly #tasks: TaskRunner<Tx>;
  readonly #groups: GroupRunner<Tx>;
  readonly #batches: BatchReceptorRunner<Tx>;
  readonly #several: SeveralReceptors<Tx>;
  readonly #givingUp: GivingUp<Tx>;

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
      telemetry,
      queue,
      records,
      policies,
      onGivenUp,
      onHandled,
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
      telemetry,
      queue,
      failedRuns,
      sharing,
      onHandled,
      logger,
    });
    this.#failedRuns = failedRuns;
    this.#tasks = tasks;
    this.#groups = new GroupRunner<Tx>({ registry, tasks, failedRuns, policies, sharing, onHandled, logger });
    this.#batches = new BatchReceptorRunner<Tx>({ registry, tasks, failedRuns, policies, onHandled });
    this.#several = new SeveralReceptors<Tx>({ records, policies, tasks, failedRuns });
    this.#givingUp = new GivingUp<Tx>({ records, policies, tasks, failedRuns, events, onGivenUp, logger });
  }

  /** Messages that their own transaction is about to complete. If a renewal misses one, it is not lost. */
  get settling(): ReadonlySet<MessageId> {
    return this.#tasks.settling;
  }

  run(started: StartedItem<WorkItem>): ItemOutcome | Promise<ItemOutcome> {
    const { item } = started;
    const receptors = this.#options.registry.receptorsFor(item.destination);
    const [first] = receptors;
    if (first === undefined) return { kind: 'failed', completedStatus: 0, error: unreadableError(item) };
    const { runs, reports } = nextStage(item.status);
    if (runs !== 'receptors') return { kind: 'completed', status: reports };
    if ((item.status & MessageProcessingStatus.GivenUp) !== 0) return this.#givingUp.run(started, receptors);
    return receptors.length > 1 ? this.#several.run(started, receptors) : this.#runOnly(started, first);
  }

  needsTransaction({ destination }: WorkItem): boolean {
    return this.#options.registry.receptorsFor(destination).some(({ transactional }) => transactional);
  }

  /** Returns whether it may be handled with others in one transaction. */
  mayShare(item: WorkItem): boolean {
    return this.#groups.mayShare(item);
  }

  /** Returns how many messages its receptor handles at once. Undefined: one. */
  batchSizeOf(item: WorkItem): number | undefined {
    return this.#batches.sizeOf(item);
  }

  mayJoinBatch(item: WorkItem, first: WorkItem): boolean {
    return this.#batches.mayJoin(item, first);
  }

  /**
   * Handles the first message and those that `next` returns in one transaction. An undefined outcome means
   * that nothing was done and the message is to be run by itself.
   */
  runTogether(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
  ): Promise<readonly (ItemOutcome | undefined)[]> {
    const isBatch = this.batchSizeOf(first.item) !== undefined;
    return (isBatch ? this.#batches : this.#groups).run(first, next);
  }

  #runOnly(started: StartedItem<WorkItem>, receptor: Receptor<Tx>): Promise<ItemOutcome> {
    const interruptions = this.#options.records.interruptionsOf(started.item);
    return interruptions === 0
      ? this.#begin(started, receptor)
      : this.#runInterrupted(started, receptor, interruptions);
  }

  async #runInterrupted(
    started: StartedItem<WorkItem>,
    receptor: Receptor<Tx>,
    counting: number | Promise<number>,
  ): Promise<ItemOutcome> {
    let interruptions: number;
    try {
      interruptions = await counting;
    } catch (error) {
      return this.#failedRuns.notRun(error, started, receptor, { hasBegun: false });
    }
    if (interruptions >= this.#options.policies.maxInterruptions([receptor])) {
      return failed(receptor, interruptedTooOften(interruptions, [receptor]), true);
    }
    return this.#begin(started, receptor);
  }

  #begin(started: StartedItem<WorkItem>, receptor: Receptor<Tx>): Promise<ItemOutcome> {
    const { item } = started;
    const attempt = item.attempts + 1;
    const begunAt = performance.now();
    const isLastAttempt = this.#options.policies.isLast(receptor, attempt);
    const only = { isLast: true, isOneOfSeveral: false };
    const task = { item, receptor, attempt, isLastAttempt, ...only, started, begunAt };
    return receptor.batch ? this.#batches.runAlone(task) : this.#tasks.run(task);
  }
}
