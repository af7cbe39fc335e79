// Buries a message that is given up: `onGivenUp` of its receptors, what they send and the dead letter are one
// transaction. In: a message with the bit `GivenUp`, which the last failure has set. Out: an outcome.
// Called by the receptor runner. It never runs a handler again, and never loses a message whose `onGivenUp` throws:
// that is called again later.
import { describedError, describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import type { Logger } from '../../logger.js';
import type { WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import { type DecisionListeners, messageOf } from './failed-attempt.js';
import type { FailedRuns } from './failed-runs.js';
import { interruptedTooOften, NotBuried } from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import type { RetryPolicies } from './retry-policies.js';
import { readFor, type Task } from './task.js';
import type { TaskRunner } from './task-runner.js';

interface GivingUpOptions<Tx> {
  readonly records: ReceptorRecords;
  readonly policies: RetryPolicies<Tx>;
  readonly tasks: TaskRunner<Tx>;
  readonly failedRuns: FailedRuns<Tx>;
  readonly events: EventStore;
  /** Called when the dead letter is written. */
  readonly onGivenUp: DecisionListeners['onGivenUp'];
  readonly logger: Logger;
}

/** A receptor that has not handled the message, and its error. */
interface Missing<Tx> {
  readonly receptor: Receptor<Tx>;
  readonly attempt: number;
  readonly error: string;
}

/** What is known of a message that is given up. */
interface Story<Tx> {
  /** For how long it has been tried to bury it. */
  readonly triedSeconds: number;
  readonly error: string;
  readonly interruptions: number;
  readonly missing: readonly Missing<Tx>[];
}

export class GivingUp<Tx> {
  readonly #options: GivingUpOptions<Tx>;

  constructor(options: GivingUpOptions<Tx>) {
    this.#options = options;
  }

  async run(started: StartedItem<WorkItem>, receptors: readonly Receptor<Tx>[]): Promise<ItemOutcome> {
    const { item } = started;
    const { failedRuns, policies, onGivenUp } = this.#options;
    const [first] = receptors;
    let triedSeconds = 0;
    const later = (cause: unknown) => this.#later(item, cause, policies.delayOfGivingUp(first, triedSeconds));
    let tasks: readonly Task<Tx>[];
    let story: Story<Tx>;
    try {
      story = await this.#storyOf(item, receptors);
      triedSeconds = story.triedSeconds;
      // Whoever called it has died, time and again: now and then is enough.
      if (story.interruptions >= policies.maxInterruptions(receptors))
        return later(interruptedTooOften(story.interruptions, receptors));
      tasks = await this.#tasksOf(started, story.missing);
    } catch (error) {
      const outcome = await failedRuns.notRun(error, started, first, { hasBegun: false });
      return outcome.kind === 'failed' ? later(error) : outcome;
    }
    const [task] = tasks;
    if (task === undefined) return failed(new NotBuried(describedError(story.error)));
    const transaction = this.#options.tasks.transaction();
    let next = 1;
    try {
      await transaction.run(task, async () => tasks[next++]);
    } catch (error) {
      const outcome = await failedRuns.outcomeOf(error, task, transaction);
      return outcome.kind === 'failed' ? later(error) : outcome;
    }
    failedRuns.succeeded(item.messageId);
    const only = story.missing.length === 1 && { receptor: task.receptor.name };
    onGivenUp({ ...messageOf(item), ...only, attempt: item.attempts, error: describedError(story.error) });
    return { kind: 'settled' };
  }

  async #storyOf(item: WorkItem, receptors: readonly Receptor<Tx>[]): Promise<Story<Tx>> {
    const { records } = this.#options;
    const { messageId, attempts } = item;
    const interruptions = await records.interruptionsOf(item);
    const { error, secondsAgo: triedSeconds } = await records.lastFailureOf(messageId);
    const recorded = new Map(
      receptors.length > 1 ? (await records.of(messageId)).map((record) => [record.name, record]) : [],
    );
    const missing = receptors
      .filter(({ name }) => recorded.get(name)?.isDone !== true)
      .map((receptor): Missing<Tx> => {
        const own = recorded.get(receptor.name);
        // Where its instances died, no receptor was given up by itself.
        return own?.isGivenUp === true
          ? { receptor, attempt: own.attempts, error: own.error }
          : { receptor, attempt: attempts, error };
      });
    return { triedSeconds, error, interruptions, missing };
  }

  /** Returns what is to be called. A receptor that cannot read the message has nothing to be called with. */
  async #tasksOf(started: StartedItem<WorkItem>, missing: readonly Missing<Tx>[]): Promise<Task<Tx>[]> {
    const { item } = started;
    const begunAt = performance.now();
    const wanted = missing.filter(({ receptor }) => receptor.onGivenUp !== undefined);
    const tasks: Task<Tx>[] = [];
    if (wanted.length === 0) return tasks;
    const opened = await this.#options.events.opened(item);
    for (const { receptor, attempt, error } of wanted) {
      try {
        const envelope = await readFor(opened, receptor, wanted.length > 1);
        const givenUp = describedError(error);
        const rest = { attempt, isLastAttempt: true, isLast: false, isOneOfSeveral: false, started, begunAt };
        tasks.push({ item, envelope, receptor, givenUp, ...rest });
      } catch (cause) {
        if (!(cause instanceof WhizbangError && cause.code === 'INVALID_MESSAGE')) throw cause;
        this.#options.logger.error(
          { messageId: item.messageId, receptor: receptor.name, error: cause.message },
          'onGivenUp is not called: the message cannot be read',
        );
      }
    }
    return tasks.map((task, i) => ({ ...task, isLast: i === tasks.length - 1 }));
  }

  #later(item: WorkItem, cause: unknown, retryAfterSeconds: number): ItemOutcome {
    this.#options.logger.error(
      { ...messageOf(item), retryAfterSeconds, error: describeError(cause) },
      'onGivenUp failed; its message stays, and it is called again later',
    );
    return failed(new NotBuried(cause, retryAfterSeconds));
  }
}

const failed = (error: NotBuried): ItemOutcome => ({ kind: 'failed', completedStatus: 0, error });
