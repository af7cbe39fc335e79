// Runs the receptors of a message that has several, one after the other, each in a transaction of its own or
// without one. In: the message and its receptors. Out: an outcome, with the receptors that are missing.
// Called by the receptor runner. One that fails does not stop those behind it. A lost lease, a broken
// connection or a stop ends the run: then nothing of it is reported but what is done.
import type { WorkItem } from '../../message.js';
import type { Receptor } from '../../receptors/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import type { FailedRuns } from './failed-runs.js';
import {
  type FailedReceptor,
  failed,
  interruptedTooOften,
  type ReceptorError,
  UnfinishedReceptors,
} from './receptor-error.js';
import type { ReceptorRecords } from './receptor-records.js';
import { turnsOf } from './receptor-turns.js';
import type { RetryPolicies } from './retry-policies.js';
import { nextStage } from './stages.js';
import { secondsSince } from './task.js';
import type { TaskRunner } from './task-runner.js';

interface SeveralReceptorsOptions<Tx> {
  readonly records: ReceptorRecords;
  readonly policies: RetryPolicies<Tx>;
  readonly tasks: TaskRunner<Tx>;
  readonly failedRuns: FailedRuns<Tx>;
}

export class SeveralReceptors<Tx> {
  readonly #options: SeveralReceptorsOptions<Tx>;

  constructor(options: SeveralReceptorsOptions<Tx>) {
    this.#options = options;
  }

  async run(started: StartedItem<WorkItem>, receptors: readonly Receptor<Tx>[]): Promise<ItemOutcome> {
    const { item } = started;
    const { records, policies, failedRuns } = this.#options;
    let interruptions: number;
    let turns: ReturnType<typeof turnsOf<Tx>>;
    try {
      interruptions = await records.interruptionsOf(item);
      turns = turnsOf(item, receptors, await records.of(item.messageId));
    } catch (error) {
      return failedRuns.notRun(error, started, undefined, { hasBegun: false });
    }
    const { due, waiting, givenUp } = turns;
    const missing = [...due, ...waiting, ...givenUp].map(({ receptor }) => receptor);
    if (missing.length === 0) return { kind: 'completed', status: nextStage(item.status).reports };
    if (interruptions >= policies.maxInterruptions(missing)) {
      return failed(undefined, interruptedTooOften(interruptions, missing), true);
    }
    const failures: FailedReceptor<Tx>[] = [];
    for (const [i, { receptor, failures: before }] of due.entries()) {
      if (started.aborted) return isLeaseLost(started.reason) ? { kind: 'forgotten' } : { kind: 'released' };
      const begunAt = performance.now();
      const attempt = before + 1;
      const isLast = i === missing.length - 1 && failures.length === 0;
      const isLastAttempt = policies.isLast(receptor, attempt);
      const task = { item, receptor, attempt, isLastAttempt, isLast, isOneOfSeveral: true, started, begunAt };
      const outcome = await this.#options.tasks.run(task);
      if (outcome.kind === 'settled') continue;
      if (outcome.kind !== 'failed') return outcome;
      const { cause, isFinal } = outcome.error as ReceptorError<Tx>;
      failures.push({ receptor, attempt, cause, isFinal, tookSeconds: secondsSince(begunAt) });
    }
    if (failures.length === 0 && due.length === missing.length) return { kind: 'settled' };
    return { kind: 'failed', completedStatus: 0, error: new UnfinishedReceptors(failures, turns) };
  }
}
