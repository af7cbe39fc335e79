// The runs under way: of one item, or of several as one.
// In: items to start. Out: the outcome of each, when their run has returned. Called by the ordered stream
// processor. It never chooses what runs next: a callback brings the items that join a run.
import { LazySignal } from '../../lazy-signal.js';
import type { Held, OrderedItem } from './held-streams.js';
import { LinkedQueue } from './linked-queue.js';
import type { ItemOutcome, RunTogether, StartedItem, StartedItemOptions } from './processor-options.js';

export interface RunsOptions<Item extends OrderedItem> {
  readonly run: StartedItemOptions<Item>['runStarted'];
  readonly together: RunTogether<Item> | undefined;
  /** Called when a run has returned, with the outcomes in order. Undefined: nothing was done. */
  readonly onReturned: (group: readonly Held<Item>[], outcomes: readonly (ItemOutcome | undefined)[]) => void;
}

export class Runs<Item extends OrderedItem> {
  readonly #options: RunsOptions<Item>;
  /** Items that run, also those whose lease was lost, until they return. */
  readonly #running = new LinkedQueue<LazySignal>();

  constructor(options: RunsOptions<Item>) {
    this.#options = options;
  }

  has(held: Held<Item>): boolean {
    return held.run !== undefined;
  }

  /** Removes an item whose run has returned. */
  end(held: Held<Item>): void {
    if (held.run !== undefined) this.#running.cut(held.run, held.run);
    held.run = undefined;
  }

  abort(held: Held<Item>, reason: unknown): void {
    held.run?.value.abort(reason);
  }

  abortAll(reason: unknown): void {
    const all: LazySignal[] = [];
    for (let node = this.#running.first; node; node = node.behind) all.push(node.value);
    for (const run of all) run.abort(reason);
  }

  start(held: Held<Item>): void {
    const { onReturned } = this.#options;
    this.#run(this.#begin(held)).then(
      (outcome) => onReturned([held], [outcome]),
      (error: unknown) => onReturned([held], [{ kind: 'failed', completedStatus: 0, error }]),
    );
  }

  /** Runs up to `size` items as one, for as long as `nextBehind` returns more. */
  startTogether(
    first: Held<Item>,
    size: number,
    nextBehind: (group: readonly Held<Item>[]) => Held<Item> | undefined,
  ): void {
    const { run } = this.#options.together as RunTogether<Item>;
    const group = [first];
    let isOver = false;
    const next = (): StartedItem<Item> | undefined => {
      if (isOver || group.length >= size) return undefined;
      const held = nextBehind(group);
      if (!held) return undefined;
      group.push(held);
      return this.#begin(held);
    };
    const returned = (outcomes: readonly (ItemOutcome | undefined)[]) => {
      isOver = true;
      this.#options.onReturned(group, outcomes);
    };
    // When it throws, each item is run again by itself, which shows the one that fails.
    new Promise<readonly (ItemOutcome | undefined)[]>((resolve) =>
      resolve(run(this.#begin(first), next)),
    ).then(returned, () => returned([]));
  }

  #run(started: StartedItem<Item>): Promise<ItemOutcome> {
    try {
      return Promise.resolve(this.#options.run(started));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #begin(held: Held<Item>): StartedItem<Item> {
    const started = new Started(held.item);
    held.run = this.#running.push(started);
    return started;
  }
}

class Started<Item extends OrderedItem> extends LazySignal implements StartedItem<Item> {
  readonly item: Item;

  constructor(item: Item) {
    super();
    this.item = item;
  }
}
