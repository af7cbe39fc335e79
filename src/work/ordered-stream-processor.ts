// Runs what was handed out: one message at a time within a stream, in order; streams side by side, up to a limit.
// In: items in the order in which the database gave them. Out: one outcome for each of them, to be reported.
// Called by the consumer worker. It never talks to the database, never retries, and never runs a message behind one
// of its stream that did not succeed: that, and all that waits behind it, goes back to the database, which hands it
// out again in order.
import { WhizbangError } from '../errors.js';
import type { MessageId } from '../message.js';
import { orderedStreamProcessorOptions, resolveOptions } from '../options.js';
import { type Held, HeldStreams, type OrderedItem } from './held-streams.js';
import type { ItemOutcome } from './item-outcome.js';
import { type Batch, leave, OutcomeNotices } from './outcome-notices.js';

export type { OrderedItem } from './held-streams.js';
export type { ItemOutcome } from './item-outcome.js';

/** Of an OrderedStreamProcessor. */
export interface OrderedStreamProcessorOptions<Item extends OrderedItem> {
  /** Default: 32. */
  readonly maxConcurrentStreams?: number | undefined;
  /**
   * Runs the stages that the item's status is missing. To throw is to fail with nothing done. The stream and its place
   * under the limit are taken until the promise settles, also when the signal was aborted meanwhile: whoever wants to
   * leave a handler behind that does not listen settles early.
   */
  readonly run: (item: Item, signal: AbortSignal) => Promise<ItemOutcome>;
  /** Called exactly once for every item, before anything that was added later is started in its stream. */
  readonly onOutcome: (item: Item, outcome: ItemOutcome) => void;
  /** What `onOutcome` threw, and items that were added while they were held. Default: to the console. */
  readonly onError?: ((error: unknown, item: Item) => void) | undefined;
}

/** Runs items side by side, those of one stream one at a time and in order. */
export class OrderedStreamProcessor<Item extends OrderedItem> {
  readonly #limit: number;
  readonly #run: OrderedStreamProcessorOptions<Item>['run'];
  readonly #notices: OutcomeNotices<Item>;
  readonly #streams = new HeldStreams<Item>();
  /** Also those whose lease was lost, until they return. */
  readonly #running = new Map<Held<Item>, AbortController>();
  #isAdvancing = false;
  #idleWaiters: (() => void)[] = [];

  constructor(options: OrderedStreamProcessorOptions<Item>) {
    const { run, onOutcome, onError, ...numbers } = options;
    this.#limit = resolveOptions(
      'OrderedStreamProcessor',
      orderedStreamProcessorOptions,
      numbers,
    ).maxConcurrentStreams;
    this.#run = run;
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
    return this.#running.size;
  }

  /** Items of one stream are run in the order in which they are added. */
  add(items: Iterable<Item>): void {
    for (const item of items) this.#take(item, undefined);
    this.#advance();
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
    const interrupted = named.filter((held) => this.#running.has(held));
    const dropped = named.flatMap((held) => this.#streams.dropFrom(held));
    this.#notices.conclude([...interrupted, ...dropped], { kind: 'forgotten' });
    for (const held of interrupted) {
      this.#streams.drop(held);
      this.#notices.conclude(this.#streams.dropQueuedOf(held), { kind: 'released' });
    }
    for (const held of interrupted) this.#running.get(held)?.abort(leaseLost(held.item));
    this.#advance();
    return [...interrupted, ...dropped].map(({ item }) => item.messageId);
  }

  /** Gives back everything that was not started. What runs goes on. */
  releaseQueued(): void {
    this.#notices.conclude(this.#streams.dropAllQueued(), { kind: 'released' });
    this.#advance();
  }

  /** Aborts the signal of everything that runs. What becomes of it is still for `run` to say. */
  abortRunning(reason: unknown): void {
    for (const abort of [...this.#running.values()]) abort.abort(reason);
  }

  /** Resolves when nothing is queued and every run has returned. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle && !this.#isAdvancing) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#streams.size === 0 && this.#running.size === 0;
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
    const isQueued = !this.#running.has(known);
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
        this.#notices.conclude(this.#streams.dropFrom(held), { kind: 'released' });
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
    if (this.#running.size >= this.#limit) return false;
    const held = this.#streams.next();
    if (!held) return false;
    const abort = new AbortController();
    this.#running.set(held, abort);
    new Promise<ItemOutcome>((resolve) => resolve(this.#run(held.item, abort.signal))).then(
      (outcome) => this.#returned(held, outcome),
      (error: unknown) => this.#returned(held, { kind: 'failed', completedStatus: 0, error }),
    );
    return true;
  }

  #returned(held: Held<Item>, outcome: ItemOutcome): void {
    this.#running.delete(held);
    if (this.#streams.isHeld(held)) {
      this.#streams.drop(held);
      this.#notices.conclude([held], outcome);
      const goesOn = outcome.kind === 'completed' || outcome.kind === 'settled';
      if (!goesOn) this.#notices.conclude(this.#streams.dropQueuedOf(held), { kind: 'released' });
    }
    this.#streams.free(held);
    this.#advance();
  }
}

function leaseLost({ messageId, streamId }: OrderedItem): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `The lease of message ${messageId} was lost while it ran`,
    details: { messageId, streamId },
  });
}

function handedOutAgain({ messageId, streamId }: OrderedItem, state: string): WhizbangError {
  return new WhizbangError('LEASE_LOST', {
    message: `Message ${messageId} was handed out again while it was ${state} here`,
    hint: 'Its lease ended unnoticed. It is run once. Look for a blocked event loop, a stalled process or slow calls.',
    details: { messageId, streamId },
  });
}
