// The inbox side: receptors handle the claimed messages, one at a time within a stream, many streams at once.
// In: inbox items. Out: reports of their outcomes.
// Called by the loop. It never reports a message as handled whose receptors have not all run.
import type { MessageId, WorkItem } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import type { Lane } from '../lane.js';
import type { LeaseClock } from '../leases/lease-clock.js';
import type { Capacity } from '../streams/capacity.js';
import { OrderedStreamProcessor } from '../streams/ordered-stream-processor.js';
import type { ItemOutcome, StartedItem } from '../streams/processor-options.js';
import { UnbrokenStreams } from '../streams/unbroken-streams.js';
import type { ItemLimits } from './item-limits.js';
import type { ReceptorRunner } from './receptor-runner.js';

interface ConsumerWorkerOptions<Tx> {
  readonly runner: ReceptorRunner<Tx>;
  readonly limits: ItemLimits;
  readonly leases: LeaseClock;
  /** Largest number of streams that run at once. */
  readonly concurrency: number;
  /** Largest number of messages that one transaction handles. */
  readonly groupSize: number;
  /** Largest number of items that it holds, running and waiting. */
  readonly capacity: Capacity;
  /** Decides about a message that is not finished, and makes the report on it. */
  readonly failureOf: (item: WorkItem, error: unknown) => WorkUnit;
  readonly report: (unit: WorkUnit) => void;
  /** Called when a message has its outcome: there is room, and its stream may have more messages. */
  readonly onRoom: () => void;
  /** Called when a lease expired before its message was started, because the event loop was blocked. */
  readonly onLeaseLost: (messageId: MessageId) => void;
  readonly onError: (error: unknown) => void;
}

export class ConsumerWorker<Tx> implements Lane {
  readonly source = 'inbox';
  readonly #options: ConsumerWorkerOptions<Tx>;
  readonly #processor: OrderedStreamProcessor<WorkItem>;
  readonly #unbroken = new UnbrokenStreams();
  #taking = true;

  constructor(options: ConsumerWorkerOptions<Tx>) {
    this.#options = options;
    this.#processor = new OrderedStreamProcessor<WorkItem>({
      maxConcurrentStreams: options.concurrency,
      runStarted: (started) => this.#run(started),
      // The next call is sent first, with the messages queued meanwhile (it waits for one turn). PostgreSQL
      // and the receptors then work at the same time.
      soon: (start) => setImmediate(() => setImmediate(start)),
      together: {
        most: options.groupSize,
        mayJoin: (item) =>
          options.leases.isSafe(item.messageId) &&
          !options.limits.concern(item) &&
          options.runner.mayShare(item),
        batchSize: (item) =>
          options.leases.isSafe(item.messageId) ? options.runner.batchSizeOf(item) : undefined,
        mayJoinBatch: (item, first) =>
          options.leases.isSafe(item.messageId) && options.runner.mayJoinBatch(item, first),
        run: (first, next) => options.runner.runTogether(first, next),
      },
      onOutcome: (item, outcome) => this.#settle(item, outcome),
      onError: options.onError,
    });
  }

  get leases(): LeaseClock {
    return this.#options.leases;
  }

  room(): number {
    return this.#taking ? Math.max(this.#options.capacity.get() - this.#processor.heldCount, 0) : 0;
  }

  spare(): number {
    return Math.min(this.room(), Math.max(this.#options.concurrency - this.#processor.heldCount, 0));
  }

  /**
   * Returns the room from which new messages may be leased behind those that it holds. The limit keeps places
   * free for other streams, however long one stream takes. It is infinite while it holds messages of
   * transactional receptors, because their transactions would have to wait for the call that leases more.
   */
  continuesAbove(): number {
    const { runner, concurrency } = this.#options;
    const isBeside = this.#processor.held.some((item) => runner.needsTransaction(item));
    return isBeside ? Number.POSITIVE_INFINITY : concurrency;
  }

  /** Returns true when the waiting messages would not keep every receptor busy for long. */
  wantsMore(): boolean {
    const { capacity, concurrency } = this.#options;
    return this.room() > 0 && this.#processor.heldCount <= Math.max(concurrency, capacity.get() / 2);
  }

  limits(): Readonly<Record<string, number>> | undefined {
    return this.#options.limits.asks();
  }

  add(items: readonly WorkItem[]): void {
    // The call that handed it out may have been under way when this worker stopped.
    const mayRun = (item: WorkItem) => this.#taking && this.#unbroken.admits(item);
    const refused = items.filter((item) => !mayRun(item));
    for (const item of items) this.#options.limits.added(item);
    for (const item of refused) this.#settle(item, { kind: 'released' });
    this.#processor.add(refused.length === 0 ? items : items.filter((item) => !refused.includes(item)));
  }

  get heldCount(): number {
    return this.#processor.heldCount;
  }

  heldIds(): readonly MessageId[] {
    return this.#processor.heldIds;
  }

  renewableIds(): readonly MessageId[] {
    const { settling } = this.#options.runner;
    if (settling.size === 0) return this.heldIds();
    const held = this.#processor.held;
    const locked = new Set(
      held.flatMap(({ messageId, streamId }) => (settling.has(messageId) ? [streamId] : [])),
    );
    return held.flatMap(({ messageId, streamId }) =>
      settling.has(messageId) || (streamId !== null && locked.has(streamId)) ? [] : [messageId],
    );
  }

  forget(messageIds: readonly MessageId[]): readonly MessageId[] {
    // A renewal that crosses the commit of a handler's transaction finds its message gone: no lease was lost.
    return this.#processor.forget(messageIds.filter((id) => !this.#options.runner.settling.has(id)));
  }

  stopTaking(): void {
    this.#taking = false;
    this.#options.limits.stop();
    this.#processor.releaseQueued();
  }

  abandon(): void {
    this.#processor.releaseQueued(); // a group may have been put back, so that each message runs by itself
    this.#processor.abortRunning(new Error('The instance is stopping and cannot wait any longer.'));
  }

  async whenIdle(): Promise<void> {
    await this.#processor.whenIdle();
  }

  #run(started: StartedItem<WorkItem>): ItemOutcome | Promise<ItemOutcome> {
    const { item } = started;
    if (!this.#options.leases.isSafe(item.messageId)) {
      this.#options.onLeaseLost(item.messageId);
      return { kind: 'forgotten' };
    }
    return this.#options.limits.concern(item) ? this.#runLimited(started) : this.#options.runner.run(started);
  }

  async #runLimited(started: StartedItem<WorkItem>): Promise<ItemOutcome> {
    const { limits, runner } = this.#options;
    const entered = await limits.enter(started.item);
    if ('outcome' in entered) return entered.outcome;
    try {
      return await runner.run(started);
    } finally {
      entered.leave();
    }
  }

  #settle(item: WorkItem, outcome: ItemOutcome): void {
    const { leases, limits, capacity, failureOf, report, onRoom } = this.#options;
    const { messageId } = item;
    limits.settled(item);
    leases.drop(messageId);
    capacity.handled();
    if (outcome.kind !== 'completed' && outcome.kind !== 'settled') this.#unbroken.break(item);
    if (outcome.kind === 'completed') report({ inboxCompletions: [{ messageId, status: outcome.status }] });
    else if (outcome.kind === 'released') report({ inboxCompletions: [{ messageId, status: 0 }] });
    else if (outcome.kind === 'failed') report(failureOf(item, outcome.error));
    onRoom();
  }
}
