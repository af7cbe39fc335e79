// Runs the receptor of a batch: many messages in one transaction and one call of the handler.
// In: the first message, and a function that brings more of the same receptor. Out: an outcome for each.
// Called by the receptor runner. Messages that the handler returns as failed are not completed; the others are,
// with all that the handler wrote. Where a message of the same stream is behind a failed one in the batch,
// nothing is committed: the rest is handled again without both, because the later one must not come first.
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { WhizbangError } from '../../errors.js';
import { type MessageId, type NewOutboxMessage, WorkBatchFlags, type WorkItem } from '../../message.js';
import { BatchOf, type Receptor } from '../../receptors/index.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { FailedRuns } from './failed-runs.js';
import { failed } from './receptor-error.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import type { RetryPolicies } from './retry-policies.js';
import { nextStage } from './stages.js';
import type { Task, UnreadTask } from './task.js';
import type { TaskRunner } from './task-runner.js';

interface BatchRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly tasks: TaskRunner<Tx>;
  readonly failedRuns: FailedRuns<Tx>;
  readonly policies: RetryPolicies<Tx>;
  readonly onHandled: (task: Task<Tx>) => void;
}

/** How often it looks for more messages while it waits for them. */
const lookEveryMs = 5;

/** What went wrong in a transaction, and how far it had come. */
interface Failure {
  readonly cause: unknown;
  readonly lost: readonly MessageId[];
  readonly isSettled: boolean;
  readonly hasBegun: boolean;
}

/** Rolls a transaction back whose handler has returned errors before messages of the same stream. */
class RunAgain extends Error {}

export class BatchReceptorRunner<Tx> {
  readonly #options: BatchRunnerOptions<Tx>;

  constructor(options: BatchRunnerOptions<Tx>) {
    this.#options = options;
  }

  /** How many messages may be in a batch with this one. Undefined: its receptor handles no batches. */
  sizeOf(item: WorkItem): number | undefined {
    const { registry, failedRuns } = this.#options;
    const batch = registry.receptorsFor(item.destination)[0]?.batch;
    if (batch === undefined || nextStage(item.status).runs !== 'receptors') return undefined;
    // What has failed before, or was with an instance that died, is run by itself: it may fail the others too.
    const isSuspect = item.attempts > 0 || (item.flags & WorkBatchFlags.Orphaned) !== 0;
    return isSuspect || failedRuns.isSuspect(item.messageId) ? undefined : batch.size;
  }

  /** Only with messages of its scope: what the batch sends has one, and it may be that of a tenant. */
  mayJoin(item: WorkItem, first: WorkItem): boolean {
    const { registry } = this.#options;
    const [receptor] = registry.receptorsFor(first.destination);
    const isOfIt = this.sizeOf(item) !== undefined && registry.receptorsFor(item.destination)[0] === receptor;
    return isOfIt && isDeepStrictEqual(item.scope, first.scope);
  }

  async run(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
  ): Promise<readonly ItemOutcome[]> {
    const receptor = this.#options.registry.receptorsFor(first.item.destination)[0] as Receptor<Tx>;
    const started = await this.#gather(first, next, receptor);
    const outcomes = new Map<MessageId, ItemOutcome>();
    const tasks: Task<Tx>[] = [];
    for (const each of started) {
      const { item } = each;
      const read = await this.#options.tasks.read(this.#taskOf(each, receptor));
      if ('outcome' in read) this.#fail(item, read.outcome, started, outcomes);
      else if (!outcomes.has(item.messageId)) tasks.push(read.task);
    }
    await this.#handle(tasks, outcomes);
    return started.map(({ item }) => outcomes.get(item.messageId) ?? { kind: 'settled' });
  }

  /** Runs a batch of one. */
  async runAlone(unread: UnreadTask<Tx>): Promise<ItemOutcome> {
    const read = await this.#options.tasks.read(unread);
    if ('outcome' in read) return read.outcome;
    const outcomes = new Map<MessageId, ItemOutcome>();
    await this.#handle([read.task], outcomes);
    return outcomes.get(unread.item.messageId) ?? { kind: 'settled' };
  }

  /** Handles the tasks until all have an outcome or are done. Outcomes of those that are not done are added. */
  async #handle(tasks: readonly Task<Tx>[], outcomes: Map<MessageId, ItemOutcome>): Promise<void> {
    for (let left = tasks; left.length > 0; ) {
      const errors = new Map<Task<Tx>, unknown>();
      const error = await this.#attempt(left, errors);
      for (const [{ item, receptor }, cause] of errors) {
        this.#fail(item, failed(receptor, cause, false), left, outcomes);
      }
      if (error === undefined) return;
      left = left.filter(({ item }) => !outcomes.has(item.messageId));
      if (error.cause instanceof RunAgain) continue;
      for (const task of left) outcomes.set(task.item.messageId, await this.#outcomeOf(error, task));
      return;
    }
  }

  async #gather(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
    { batch }: Receptor<Tx>,
  ): Promise<readonly StartedItem<WorkItem>[]> {
    const { size = 1, waitMs = 0 } = batch ?? {};
    const started = [first];
    const until = performance.now() + waitMs;
    for (;;) {
      for (let more = next(); more !== undefined; more = next()) started.push(more);
      const left = until - performance.now();
      if (started.length >= size || left <= 0 || first.aborted) return started;
      await pause(Math.min(left, lookEveryMs), undefined, { signal: first.signal }).catch(() => {});
    }
  }

  /** Returns what went wrong, if it was not committed. `errors`: what the handler has returned for messages. */
  async #attempt(tasks: readonly Task<Tx>[], errors: Map<Task<Tx>, unknown>): Promise<Failure | undefined> {
    const runner = this.#options.tasks;
    const settable = tasks.map((task) => ({ ...task }));
    let durationMs: number | undefined;
    const handle = async (
      task: Task<Tx>,
      tx: Tx,
      abort: { readonly signal: AbortSignal },
    ): Promise<readonly NewOutboxMessage[]> => {
      if (task !== settable.at(-1)) return [];
      errors.clear(); // a library may retry a failed transaction with a second one
      const together = settable[0] as Task<Tx>;
      const payload = new BatchOf(settable.map(({ envelope: each }) => each));
      const envelope = { ...together.envelope, payload };
      const items = settable.map(({ item }) => item);
      const onReturned = (returned: unknown) => {
        for (const [i, each] of tasks.entries()) {
          const result: unknown = Array.isArray(returned) ? returned[i] : undefined;
          if (result instanceof Error) errors.set(each, result);
          (settable[i] as { isLast: boolean }).isLast = !(result instanceof Error);
        }
        if ([...errors.keys()].some((each) => followersOf(each.item, tasks).length > 0)) throw new RunAgain();
      };
      const whole: Task<Tx> = { ...together, envelope, items, onReturned };
      try {
        return await runner.handle(whole, tx, abort);
      } finally {
        durationMs = whole.durationMs;
      }
    };
    const transaction = runner.transaction(handle);
    let taken = 1;
    try {
      await transaction.run(settable[0] as Task<Tx>, async () => settable[taken++]);
      for (const task of tasks) {
        this.#options.failedRuns.succeeded(task.item.messageId);
        if (!errors.has(task))
          this.#options.onHandled({ ...task, ...(durationMs !== undefined && { durationMs }) });
      }
      return undefined;
    } catch (cause) {
      const { lost, isSettled, hasBegun } = transaction;
      return { cause, lost, isSettled, hasBegun };
    }
  }

  /** Notes the outcome of a message. Those behind it in its stream are given back. */
  #fail(
    item: WorkItem,
    outcome: ItemOutcome,
    batch: readonly { readonly item: WorkItem }[],
    outcomes: Map<MessageId, ItemOutcome>,
  ): void {
    outcomes.set(item.messageId, outcome);
    for (const each of followersOf(item, batch)) {
      if (!outcomes.has(each.item.messageId)) outcomes.set(each.item.messageId, { kind: 'released' });
    }
  }

  async #outcomeOf(progress: Failure, task: Task<Tx>): Promise<ItemOutcome> {
    const { failedRuns } = this.#options;
    const { cause } = progress;
    const own = await failedRuns.outcomeInGroup(cause, task, progress);
    if (own !== undefined) return own;
    // Another message of the batch has lost its lease.
    if ((cause as WhizbangError | undefined)?.code === 'LEASE_LOST') return { kind: 'released' };
    return failedRuns.outcomeOf(cause, task, progress);
  }

  #taskOf(started: StartedItem<WorkItem>, receptor: Receptor<Tx>): UnreadTask<Tx> {
    const { item } = started;
    const attempt = item.attempts + 1;
    const isLastAttempt = this.#options.policies.isLast(receptor, attempt);
    const only = { isLast: true, isOneOfSeveral: false };
    return { item, receptor, attempt, isLastAttempt, ...only, started, begunAt: performance.now() };
  }
}

/** Those behind an item in its stream. */
function followersOf<Each extends { readonly item: WorkItem }>(
  { messageId, streamId }: WorkItem,
  batch: readonly Each[],
): readonly Each[] {
  if (streamId === null) return [];
  const place = batch.findIndex(({ item }) => item.messageId === messageId);
  return batch.slice(place + 1).filter(({ item }) => item.streamId === streamId);
}
