// Runs what was handed out: one message at a time within a stream, in order; streams side by side, up to a limit.
// In: items in the order in which the database gave them. Out: one outcome for each of them, to be reported.
// Where more waits than can run at once, and whoever made it says how, several are run as one.
// Called by the consumer worker. It never talks to the database, never retries, and never runs a message behind one
// of its stream that did not succeed: that, and all that waits behind it, goes back to the database, which hands it
// out again in order.
import type { MessageId } from '../../message.js';
import { orderedStreamProcessorOptions, resolveOptions } from '../../options.js';
import { handedOutAgain, leaseLost } from '../leases/lease-lost.js';
import { type Held, HeldStreams, type OrderedItem } from './held-streams.js';
import { type Batch, leave, OutcomeNotices } from './outcome-notices.js';
import type { ItemOutcome, OrderedStreamProcessorOptions, RunTogether } from './processor-options.js';
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

  constructor(options: OrderedStreamProcessorOptions<Item>) {
    const { run, onOutcome, onError, together, soon, ...numbers } = options;
    this.#limit = resolveOptions(
      'OrderedStreamProcessor',
      orderedStreamProcessorOptions,
      numbers,
    ).maxConcurrentStreams;
    this.#together = together;
    const onReturned: RunsOptions<Item>['onReturned'] = (group, outcomes) => this.#returned(group, outcomes);
    this.#runs = new Runs<Item>({ run, together, onReturned });
    this.#soon = soon ?? ((start) => start());
    this.#notices = new OutcomeNotices({ onOutcome, onError });
  }

  /** What is leased to us and in memory: queued or running, without what was forgotten. */
  get held(): readonly Item[] {
    return this.#streams.items();
  }

  get heldIds(): readonly MessageId[] {
    return this.#streams.ids();
  }

  get heldCount(): number {
    return this.#streams.size;
  }

  /** How many runs have not returned, also of items that were forgotten. */
  get runningCount(): number {
    return this.#runCount;
  }

  /** Items of one stream are run in the order in which they are added. */
  add(items: Iterable<Item>): void {
    for (const item of items) this.#take(item, undefined);
    this.#soon(() => this.#advance());
  }

  /** Adds, and resolves when all these have their outcome. On abort those of them that were not started are given back. */
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
   * Leases are lost. What runs is aborted, and whatever it returns is not looked at; nothing new of its stream starts
   * before it has returned. What is queued is dropped, with all that waits behind it. Their outcome, `forgotten`,
   * comes at once, so that it cannot be taken for that of a copy handed out later. Returns their ids.
   *
   * What waits behind a running one and is not named itself is released instead: a renewal that crosses the commit of
   * the run's own transaction is told "lost" for a message that is done, and then the rest is still ours to give back.
   * A queued one cannot have been settled by us: somebody else has its stream.
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

  /** Gives back everything that was not started. What runs goes on. */
  releaseQueued(): void {
    this.#notices.conclude(this.#streams.dropAllQueued(), released);
    this.#advance();
  }

  /** Aborts the signal of everything that runs. What becomes of it is still for `run` to say. */
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
   * A message is handed out again while we still hold it: its lease ended unnoticed, nobody else has it now, and the
   * new lease is ours too. So a report of the copy that we hold will be accepted, and to run both would do everything
   * twice. A queued copy is replaced where it stands, for the new one knows the stages that somebody may have done in
   * between. Beside a running one the new copy is dropped. (A running copy that was forgotten is not held: nothing
   * will be reported for it, so the new copy is queued behind it as any other.) Returns whether the new one is used.
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

  /** Tells first and starts then, in a loop and not by recursion, however deep inside a callback it was called. */
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
    const size = this.#groupSize();
    const held = this.#streams.next();
    if (!held) return false;
    this.#runCount++;
    if (size > 1 && this.#mayJoin(held)) {
      const nextBehind = (group: readonly Held<Item>[]) =>
        this.#streams.nextBehind(group, (each) => this.#mayJoin(each));
      this.#runs.startTogether(held, size, nextBehind);
    } else this.#runs.start(held);
    return true;
  }

  /** So many that all who may run at once have the same to do. Where no more waits than can run, each is by itself. */
  #groupSize(): number {
    return Math.min(this.#together?.most ?? 1, Math.ceil(this.#streams.queuedCount / this.#limit));
  }

  #mayJoin(held: Held<Item>): boolean {
    return !held.isAlone && this.#together?.mayJoin(held.item) === true;
  }

  /** One run has returned. What has no outcome is run by itself: next, unless one before it in its stream did not succeed. */
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

  /** Returns whether its stream goes on. */
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
