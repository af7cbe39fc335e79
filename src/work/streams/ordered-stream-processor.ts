// Runs what was handed out: one message at a time within a stream, in order; streams side by side, up to a
// limit.
// In: items in the order in which the database gave them. Out: one outcome for each of them, to be reported.
// Where more waits than can run at once, and the option `together` is set, several are run as one.
// Called by the consumer worker. It never talks to the database, never retries, and never runs a message
// behind one of its stream that did not succeed: the failed message, and all that wait behind it, go back to
// the database, which hands them out again in order.
import type { MessageId } from '../../message.js';
import { orderedStreamProcessorOptions, resolveOptions } from '../../options.js';
import { handedOutAgain, leaseLost } from '../leases/lease-lost.js';
import { type Held, HeldStreams, type OrderedItem } from './held-streams.js';
import { type Batch, leave, OutcomeNotices } from './outcome-notices.js';
import type {
  ItemOutcome,
  OrderedStreamProcessorOptions,
  RunTogether,
  StartedItemOptions,
} from './processor-options.js';
import { Runs, type RunsOptions } from './runs.js';

/** Runs items side by side, those of one stream one at a time and in order. */
export class OrderedStreamProcessor<Item extends OrderedItem> {
  readonly #limit: number;
  readonly #together: RunTogether<Item> | undefined;
  readonly #soon: (start: () => void) => void;
  readonly #notices: OutcomeNotices<Item>;
  readonly #streams = new HeldStreams<Item>();
  readonly #runs: Runs<Item>;
  #runCount = 0;
  #isAdvancing = false;
  #idleWaiters: (() => void)[] = [];

  constructor(options: OrderedStreamProcessorOptions<Item> | StartedItemOptions<Item>) {
    const { onOutcome, onError, together, soon } = options;
    const run: StartedItemOptions<Item>['runStarted'] =
      'runStarted' in options ? options.runStarted : ({ item, signal }) => options.run(item, signal);
    const others = ['run', 'runStarted', 'onOutcome', 'onError', 'together', 'soon'];
    const table = orderedStreamProcessorOptions;
    const numbers = resolveOptions('OrderedStreamProcessor', table, { ...options }, others);
    this.#limit = numbers.maxConcurrentStreams;
    this.#together = together;
    const onReturned: RunsOptions<Item>['onReturned'] = (group, outcomes) => this.#returned(group, outcomes);
    this.#runs = new Runs<Item>({ run, together, onReturned });
    this.#soon = soon ?? ((start) => start());
    this.#notices = new OutcomeNotices({ onOutcome, onError });
  }

  /** Items in memory that are leased to this instance: queued or running, without forgotten ones. */
  get held(): readonly Item[] {
    return this.#streams.items();
  }

  get heldIds(): readonly MessageId[] {
    return this.#streams.ids();
  }

  get heldCount(): number {
    return this.#streams.size;
  }

  /** Number of runs that have not returned, also of items that were forgotten. */
  get runningCount(): number {
    return this.#runCount;
  }

  /** Adds items. Those of one stream are run in the order in which they are added. */
  add(items: Iterable<Item>): void {
    for (const item of items) this.#take(item, undefined);
    this.#soon(() => this.#advance());
  }

  /** Adds items; resolves when all have an outcome. On abort, those that were not started are given back. */
  async process(items: readonly Item[], signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = () => this.#releaseBatch(items, batch);
      const done = () => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const batch: Batch = { left: 1, done };
      for (const item of items) this.#take(item, batch);
      if (signal?.aborted) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
      this.#advance();
      leave(batch);
    });
  }

  /**
   * Drops items whose leases are lost. A running item is aborted, and its result is ignored; nothing new of
   * its stream starts before its run has returned. A queued item is dropped with all that wait behind it.
   * Their outcome, `forgotten`, is reported at once, so that it cannot be mistaken for that of a copy handed
   * out later. Returns their ids.
   *
   * Items that wait behind a running one and are not in `messageIds` are released instead: a renewal that
   * crosses the commit of the run's own transaction returns "lost" for a message that is done, and this
   * instance still holds the rest. A queued item cannot have been settled here, so another instance has its
   * stream.
   */
  forget(messageIds: Iterable<MessageId>): MessageId[] {
    const named = Array.from(new Set(messageIds), (id) => this.#streams.get(id)).filter(
      (held) => held !== undefined,
    );
    const interrupted = named.filter((held) => this.#runs.has(held));
    const dropped = named.flatMap((held) => this.#streams.dropFrom(held));
    this.#notices.conclude([...interrupted, ...dropped], { kind: 'forgotten' });
    for (const held of interrupted) {
      this.#streams.drop(held);
      this.#notices.conclude(this.#streams.dropQueuedOf(held), released);
    }
    for (const held of interrupted) this.#runs.abort(held, leaseLost(held.item));
    this.#advance();
    return [...interrupted, ...dropped].map(({ item }) => item.messageId);
  }

  /** Gives back everything that was not started. Items that run go on. */
  releaseQueued(): void {
    this.#notices.conclude(this.#streams.dropAllQueued(), released);
    this.#advance();
  }

  /** Aborts the signal of everything that runs. `run` still decides the outcome. */
  abortRunning(reason: unknown): void {
    this.#runs.abortAll(reason);
  }

  /** Resolves when nothing is queued and every run has returned. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle && !this.#isAdvancing) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#streams.size === 0 && this.#runCount === 0;
  }

  #take(item: Item, batch: Batch | undefined): void {
    const known = this.#streams.get(item.messageId);
    if (known && !this.#meetAgain(known, item)) return;
    const held = known ?? this.#streams.add(item);
    if (batch) this.#notices.join(held, batch);
  }

  /**
   * Handles a message that is handed out again while it is still held here. Its lease ended unnoticed, no
   * other instance has it now, and the new lease belongs to this instance too. So a report of the held copy
   * will be accepted, and running both would do everything twice. A queued copy is replaced in its place,
   * because the new one has the stages that another instance may have completed meanwhile. If the held copy
   * runs, the new one is dropped. (A running copy that was forgotten is not held: nothing will be reported
   * for it, so the new copy is queued behind it as any other.) Returns whether the new copy is used.
   */
  #meetAgain(known: Held<Item>, item: Item): boolean {
    const isQueued = !this.#runs.has(known);
    this.#notices.fail(item, handedOutAgain(item, isQueued ? 'queued' : 'running'));
    if (!isQueued) return false;
    known.item = item;
    this.#notices.leave(known);
    return true;
  }

  #releaseBatch(items: readonly Item[], batch: Batch): void {
    for (const { messageId } of items) {
      const held = this.#streams.get(messageId);
      if (held && this.#notices.isOf(held, batch)) {
        this.#notices.conclude(this.#streams.dropFrom(held), released);
      }
    }
    this.#advance();
  }

  /** Reports outcomes, then starts items. It loops and does not recurse, even if a callback calls it. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    do this.#notices.tell();
    while (this.#startNext());
    this.#isAdvancing = false;
    if (!this.#isIdle) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #startNext(): boolean {
    if (this.#runCount >= this.#limit) return false;
    const groupSize = this.#groupSize();
    const held = this.#streams.next();
    if (!held) return false;
    this.#runCount++;
    const batchSize = held.isAlone ? undefined : this.#together?.batchSize?.(held.item);
    const mayJoin = (each: Held<Item>) =>
      batchSize === undefined ? this.#mayJoin(each) : this.#mayJoinBatch(each, held);
    if (batchSize !== undefined || (groupSize > 1 && this.#mayJoin(held))) {
      const nextBehind = (group: readonly Held<Item>[]) => this.#streams.nextBehind(group, mayJoin);
      this.#runs.startTogether(held, batchSize ?? groupSize, nextBehind);
    } else this.#runs.start(held);
    return true;
  }

  /** Returns a group size that gives all runs equal work. It is 1 where no more wait than can run. */
  #groupSize(): number {
    return Math.min(this.#together?.most ?? 1, Math.ceil(this.#streams.queuedCount / this.#limit));
  }

  #mayJoin(held: Held<Item>): boolean {
    return !held.isAlone && this.#together?.mayJoin(held.item) === true;
  }

  #mayJoinBatch(held: Held<Item>, first: Held<Item>): boolean {
    return !held.isAlone && this.#together?.mayJoinBatch?.(held.item, first.item) === true;
  }

  /**
   * Ends a run that has returned. An item without an outcome is run by itself: next, unless an item before it
   * in its stream did not succeed.
   */
  #returned(group: readonly Held<Item>[], outcomes: readonly (ItemOutcome | undefined)[]): void {
    this.#runCount--;
    const again: Held<Item>[] = [];
    const stuck = new Set<Held<Item>['stream']>();
    for (const [i, held] of group.entries()) {
      this.#runs.end(held);
      const outcome = outcomes[i] ?? (stuck.has(held.stream) ? released : undefined);
      if (outcome === undefined && this.#streams.isHeld(held)) again.push(held);
      else if (!this.#end(held, outcome ?? released)) stuck.add(held.stream);
    }
    this.#streams.putBack(again);
    this.#advance();
  }

  /** Ends one item with its outcome. Returns whether its stream goes on. */
  #end(held: Held<Item>, outcome: ItemOutcome): boolean {
    const goesOn = outcome.kind === 'completed' || outcome.kind === 'settled';
    const isHeld = this.#streams.isHeld(held);
    if (isHeld) {
      this.#streams.drop(held);
      this.#notices.conclude([held], outcome);
      if (!goesOn) this.#notices.conclude(this.#streams.dropQueuedOf(held), released);
    }
    this.#streams.free(held);
    return isHeld && goesOn;
  }
}

const released: ItemOutcome = { kind: 'released' };
