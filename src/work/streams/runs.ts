// The runs under way: of one item, or of several as one.
// In: items to start. Out: the outcome of each, when their run has returned. Called by the ordered stream
// processor. It never chooses what runs next: a callback brings the items that join a run.
import type { Held, OrderedItem } from './held-streams.js';
import type {
  ItemOutcome,
  OrderedStreamProcessorOptions,
  RunTogether,
  StartedItem,
} from './processor-options.js';

export interface RunsOptions<Item extends OrderedItem> {
  readonly run: OrderedStreamProcessorOptions<Item>['run'];
  readonly together: RunTogether<Item> | undefined;
  /** Called when a run has returned, with the outcomes in order. Undefined: nothing was done. */
  readonly onReturned: (group: readonly Held<Item>[], outcomes: readonly (ItemOutcome | undefined)[]) => void;
}

export class Runs<Item extends OrderedItem> {
  readonly #options: RunsOptions<Item>;
  /** Items that run, also those whose lease was lost, until they return. */
  readonly #running = new Map<Held<Item>, AbortController>();

  constructor(options: RunsOptions<Item>) {
    this.#options = options;
  }

  has(held: Held<Item>): boolean {
    return this.#running.has(held);
  }

  /** Removes an item whose run has returned. */
  end(held: Held<Item>): void {
    this.#running.delete(held);
  }

  abort(held: Held<Item>, reason: unknown): void {
    this.#running.get(held)?.abort(reason);
  }

  abortAll(reason: unknown): void {
    for (const abort of [...this.#running.values()]) abort.abort(reason);
  }

  start(held: Held<Item>): void {
    const { run, onReturned } = this.#options;
    const { item, signal } = this.#begin(held);
    new Promise<ItemOutcome>((resolve) => resolve(run(item, signal))).then(
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

  #begin(held: Held<Item>): StartedItem<Item> {
    const abort = new AbortController();
    this.#running.set(held, abort);
    return { item: held.item, signal: abort.signal };
  }
}
