// Runs several messages in one transaction, where many wait. An error of the group fails no message: each is
// then run by itself. In: the first, and a function that brings the next. Out: an outcome for each. Called by
// the ordered stream processor, through the receptor runner.
import { outageFacts } from '../../describe-error.js';
import type { Logger } from '../../logger.js';
import type { WorkItem } from '../../message.js';
import { type Envelope, sealedWith } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { FailedRuns } from './failed-runs.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import type { RetryPolicies } from './retry-policies.js';
import type { Sharing } from './sharing.js';
import { nextStage } from './stages.js';
import { readFor, type Task, taskOf } from './task.js';
import type { TaskRunner } from './task-runner.js';

interface GroupRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly tasks: TaskRunner<Tx>;
  readonly failedRuns: FailedRuns<Tx>;
  readonly policies: RetryPolicies<Tx>;
  readonly sharing: Sharing<Tx>;
  /** Called when a receptor has handled a message. */
  readonly onHandled: (task: Task<Tx>) => void;
  readonly logger: Logger;
}

/**
 * Age of a transaction after which no more join: it holds locks, and handled messages wait for its commit.
 */
const longestOpenMs = 50;

export class GroupRunner<Tx> {
  readonly #options: GroupRunnerOptions<Tx>;

  constructor(options: GroupRunnerOptions<Tx>) {
    this.#options = options;
  }

  mayShare(item: WorkItem): boolean {
    const { sharing, registry, failedRuns } = this.#options;
    return (
      nextStage(item.status).runs === 'receptors' &&
      // To open sealed fields takes a connection, and who is in a shared transaction has one already.
      sealedWith(item.metadata) === undefined &&
      sharing.allows(item, registry.receptorsFor(item.destination)) &&
      !failedRuns.isSuspect(item.messageId)
    );
  }

  /**
   * Runs the first message and those that `next` returns. An undefined outcome means that nothing was done
   * and the message is to be run by itself.
   */
  async run(
    first: StartedItem<WorkItem>,
    next: () => StartedItem<WorkItem> | undefined,
  ): Promise<readonly (ItemOutcome | undefined)[]> {
    const { tasks, failedRuns, sharing, onHandled, logger } = this.#options;
    const started = [first];
    const joined: Task<Tx>[] = [];
    const firstTask = await this.#taskOf(first, (task) => joined.push(task));
    const transaction = tasks.transaction();
    try {
      await transaction.run(firstTask, () => {
        if (transaction.openMs > longestOpenMs) return undefined;
        const another = next();
        if (another === undefined) return undefined;
        started.push(another);
        return this.#taskOf(another, (task) => joined.push(task));
      });
      for (const task of joined) onHandled(task);
      return started.map(() => ({ kind: 'settled' }));
    } catch (error) {
      if (started.length === 1) return [await failedRuns.outcomeOf(error, firstTask, transaction)];
      logger.debug(
        { count: started.length, ...outageFacts(error) },
        'A shared transaction failed; its messages are handled one by one',
      );
      sharing.failed(
        started.map(({ item }) => this.#receptorOf(item)),
        transaction.openMs,
      );
      return Promise.all(
        started.map((each) =>
          failedRuns.outcomeInGroup(
            error,
            { started: each, receptor: this.#receptorOf(each.item) },
            transaction,
          ),
        ),
      );
    }
  }

  /** Makes a task: at once, unless its schema is asynchronous. */
  #taskOf(started: StartedItem<WorkItem>, onMade: (task: Task<Tx>) => void): Task<Tx> | Promise<Task<Tx>> {
    const { item } = started;
    const receptor = this.#receptorOf(item);
    const made = (envelope: Envelope): Task<Tx> => {
      const attempt = item.attempts + 1;
      const begunAt = performance.now();
      const isLastAttempt = this.#options.policies.isLast(receptor, attempt);
      const only = { isLast: true, isOneOfSeveral: false };
      const task = taskOf({ item, receptor, attempt, isLastAttempt, ...only, started, begunAt }, envelope);
      onMade(task);
      return task;
    };
    const reading = readFor(item, receptor, false);
    return reading instanceof Promise ? reading.then(made) : made(reading);
  }

  /** Returns the only receptor: a message that may share has exactly one. */
  #receptorOf({ destination }: WorkItem): Receptor<Tx> {
    return this.#options.registry.receptorsFor(destination)[0] as Receptor<Tx>;
  }
}
