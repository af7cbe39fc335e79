// An OrderedStreamProcessor whose runs end when the test says so, and a log of what it did.
import {
  type ItemOutcome,
  type OrderedItem,
  OrderedStreamProcessor,
  type OrderedStreamProcessorOptions,
} from '../../src/work/index.js';

interface Run {
  readonly id: string;
  readonly item: OrderedItem;
  readonly signal: AbortSignal;
  readonly end: (outcome: ItemOutcome) => Promise<void>;
  readonly throw: (error: unknown) => Promise<void>;
}

export const completed: ItemOutcome = { kind: 'completed', status: 24 };
export const failed: ItemOutcome = { kind: 'failed', completedStatus: 8, error: new Error('no') };

/** `item('a1')` is a message of stream a; `item('-1')` has no stream. */
export function item(id: string): OrderedItem {
  const stream = id.charAt(0);
  return { messageId: id, streamId: stream === '-' ? null : stream };
}

export const items = (...ids: string[]): OrderedItem[] => ids.map(item);

/** All that promises have to say to each other has been said. */
export const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class ControlledRuns {
  /** Those that have not returned, in the order in which they were started. */
  readonly running: Run[] = [];
  /** `start a1`, `completed a1`, `error a1`, … as they came. */
  readonly log: string[] = [];
  readonly errors: unknown[] = [];
  readonly processor: OrderedStreamProcessor<OrderedItem>;

  constructor(
    maxConcurrentStreams: number,
    overrides: Partial<OrderedStreamProcessorOptions<OrderedItem>> = {},
  ) {
    this.processor = new OrderedStreamProcessor<OrderedItem>({
      maxConcurrentStreams,
      run: (started, signal) => this.#run(started, signal),
      onOutcome: ({ messageId }, { kind }) => this.log.push(`${kind} ${messageId}`),
      onError: (error, { messageId }) => {
        this.log.push(`error ${messageId}`);
        this.errors.push(error);
      },
      ...overrides,
    });
  }

  get runningIds(): string[] {
    return this.running.map(({ id }) => id);
  }

  run(id: string): Run {
    const run = this.running.find((candidate) => candidate.id === id);
    if (!run) throw new Error(`${id} does not run; these do: ${this.runningIds.join(' ')}`);
    return run;
  }

  /** The log since it was last taken. */
  takeLog(): string[] {
    return this.log.splice(0);
  }

  #run(started: OrderedItem, signal: AbortSignal): Promise<ItemOutcome> {
    const id = started.messageId;
    this.log.push(`start ${id}`);
    return new Promise((resolve, reject) => {
      const leave = async (settle: () => void) => {
        this.running.splice(this.running.indexOf(run), 1);
        settle();
        await quiet();
      };
      const run: Run = {
        id,
        item: started,
        signal,
        end: (outcome) => leave(() => resolve(outcome)),
        throw: (error) => leave(() => reject(error as Error)),
      };
      this.running.push(run);
    });
  }
}
