// A coordinator that does to each call what a script says, and remembers everything. Beside the real one: it fails
// where a database fails once in a million calls, thousands of times a second.
import { setImmediate as turn } from 'node:timers/promises';
import type { WorkBatchRequest } from '../../src/coordinator/index.js';
import { WhizbangError } from '../../src/errors.js';
import type { WorkBatch, WorkItem } from '../../src/message.js';

/** `unsent`: nothing happened. `unanswered`: it was committed, and nobody learns of it. */
export type Verdict = 'answered' | 'unsent' | 'unanswered';

const isPoison = (eventData: unknown): boolean => eventData === 'poison';

export class ScriptedCoordinator {
  /** Ids of all that was committed, in order. */
  readonly stored: string[] = [];
  /** Items handed out by calls that were answered. */
  readonly handedOut: string[] = [];
  /** Whatever must not happen. */
  readonly violations: string[] = [];
  readonly #script: Verdict[];
  readonly #settled = new Set<string>();
  #isBusy = false;
  #items = 0;

  constructor(script: readonly Verdict[]) {
    this.#script = [...script];
  }

  /** From now on every call is answered. */
  heal(): void {
    this.#script.length = 0;
  }

  async processWorkBatch(request: WorkBatchRequest = {}): Promise<WorkBatch> {
    if (this.#isBusy) this.violations.push('two calls at the same time');
    this.#isBusy = true;
    await turn();
    try {
      return this.#answer(request, this.#script.shift() ?? 'answered');
    } finally {
      this.#isBusy = false;
    }
  }

  #answer(request: WorkBatchRequest, verdict: Verdict): WorkBatch {
    const messages = request.newOutboxMessages ?? [];
    for (const { messageId } of messages) {
      if (this.#settled.has(messageId)) this.violations.push(`${messageId} was sent after it was answered`);
    }
    if (verdict === 'unsent') throw new WhizbangError('TIMEOUT', { message: 'unsent' });
    if (messages.some(({ eventData }) => isPoison(eventData))) {
      throw new WhizbangError('INVALID_REQUEST', { message: 'poison' });
    }
    for (const { messageId } of messages) if (!this.stored.includes(messageId)) this.stored.push(messageId);
    if (verdict === 'unanswered') throw new WhizbangError('CONNECTION_LOST', { message: 'unanswered' });
    for (const { messageId } of messages) this.#settled.add(messageId);
    return { outbox: this.#handOut(request.maxOutboxItems), inbox: [], perspectives: [], leaseLost: [] };
  }

  #handOut(room = 1): WorkItem[] {
    if (room === 0) return [];
    const messageId = `item ${++this.#items}`;
    this.handedOut.push(messageId);
    return [{ messageId } as WorkItem];
  }
}
