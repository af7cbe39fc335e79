// Runs several messages in one transaction, where many wait. An error of the group fails no message: each is
// then run by itself. In: the first, and a function that brings the next. Out: an outcome for each. Called by
// the ordered stream processor, through the receptor runner.
import { outageFacts } from '../../describe-error.js';
import type { Logger } from '../../logger.js';
import type { WorkItem } from '../../message.js';
import { sealedWith } from '../../messages/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { FailedRuns } from './failed-runs.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import type { Sharing } from './sharing.js';
import { nextStage } from './stages.js';
import { readFor, type Task } from './task.js';
import type { TaskRunner } from './task-runner.js';

interface GroupRunnerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly tasks: TaskRunner<Tx>;
  readonly failedRuns: FailedRuns<Tx>;
  readonly sharing: Sharing<Tx>;
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
    const { tasks, failedRuns, sharing, logger } = this.#options;
    const started = [first];
    const firstTask = await this.#taskOf(first);
    const transaction = tasks.transaction();
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
        started.map(({ item, signal }) =>
          failedRuns.outcomeInGroup(error, { item, signal, receptor: this.#receptorOf(item) }, transaction),
        ),
      );
    }
  }

  async #taskOf({ item, signal }: StartedItem<WorkItem>): Promise<Task<Tx>> {
    const receptor = this.#receptorOf(item);
    const envelope = await readFor(item, receptor, false);
    const attempt = item.attempts + 1;
    const begunAt = performance.now();
    return { item, envelope, receptor, attempt, isLast: true, isOneOfSeveral: false, signal, begunAt };
  }

  /** Returns the only receptor: a message that may share has exactly one. */
  #receptorOf({ destination }: WorkItem): Receptor<Tx> {
    return this.#options.registry.receptorsFor(destination)[0] as Receptor<Tx>;
  }
}
