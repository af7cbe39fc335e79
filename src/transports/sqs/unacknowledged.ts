import type { Aws } from './aws.js';
import { type OpenQueue, resourceOf } from './queue.js';

/** A message that was handed out and is neither acknowledged nor rejected. */
interface Held {
  readonly group: string;
  /** Undefined: SQS has taken it back, and it comes again. */
  receipt: string | undefined;
  isSettled: boolean;
}

const mostInBatch = 10;

/**
 * The messages of one receiver that are locked at SQS for it. Extends their locks, deletes those that are acknowledged,
 * in tens, and gives back those that are rejected.
 * SQS hands out nothing of a group while one of its messages is locked. So whatever is given back, the group goes on
 * with its earliest message, and only when the last one is back or deleted.
 */
export class Unacknowledged {
  readonly #aws: Aws;
  readonly #queue: () => OpenQueue;
  readonly #visibilitySeconds: number;
  readonly #onRoom: () => void;
  readonly #timer: NodeJS.Timeout;
  /** In the order in which they were handed out. */
  readonly #held = new Set<Held>();
  #acknowledged: { readonly receipt: string; readonly done: () => void }[] = [];
  #extending: Promise<void> | undefined;
  #isFlushComing = false;
  readonly #deleting = new Set<Promise<void>>();

  constructor(aws: Aws, queue: () => OpenQueue, visibilitySeconds: number, onRoom: () => void) {
    this.#aws = aws;
    this.#queue = queue;
    this.#visibilitySeconds = visibilitySeconds;
    this.#onRoom = onRoom;
    this.#timer = setInterval(() => this.#extendAll(), (visibilitySeconds * 1_000) / 3);
  }

  /** How many the caller has, those included whose lock was lost. */
  get size(): number {
    return this.#held.size;
  }

  add(group: string, receipt: string): Held {
    const held = { group, receipt, isSettled: false };
    this.#held.add(held);
    return held;
  }

  /** Deletes it at SQS. Resolves also when that fails: then it comes again. */
  async acknowledge(held: Held): Promise<void> {
    if (held.isSettled) return;
    held.isSettled = true;
    const { receipt } = held;
    if (receipt !== undefined)
      await new Promise<void>((done) => {
        this.#acknowledged.push({ receipt, done });
        if (this.#isFlushComing) return;
        this.#isFlushComing = true;
        setImmediate(() => this.#flush());
      });
    this.#forget([held]);
  }

  /** Gives it back, and with it the later ones of its group. */
  async reject(held: Held): Promise<void> {
    if (held.isSettled) return;
    const all = [...this.#held];
    const from = all.indexOf(held);
    await this.giveBack(all.filter((each, i) => i >= from && each.group === held.group));
  }

  /** Gives back all that is held, after what was acknowledged is deleted. Extends nothing any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    await Promise.all(this.#deleting);
    await this.giveBack([...this.#held]);
  }

  /** Gives these back, the last one first: a stand-in that puts each at the head of its group has them in order again. */
  async giveBack(given: readonly Held[]): Promise<void> {
    const open = given.filter(({ isSettled }) => !isSettled);
    for (const held of open) held.isSettled = true;
    await this.#extending; // it would lock again what is given back
    const receipts = open.flatMap(({ receipt }) => receipt ?? []).reverse();
    try {
      for (const batch of inTens(receipts)) await this.#changeVisibility(batch, 0);
    } catch {
      // They come again when their locks have run out.
    }
    this.#forget(open);
  }

  #forget(settled: readonly Held[]): void {
    for (const held of settled) this.#held.delete(held);
    this.#onRoom();
  }

  #extendAll(): void {
    this.#extending ??= this.#extend().finally(() => {
      this.#extending = undefined;
    });
  }

  async #extend(): Promise<void> {
    const open = [...this.#held].filter(({ isSettled, receipt }) => !isSettled && receipt !== undefined);
    const byReceipt = new Map(open.map((held) => [held.receipt as string, held]));
    await Promise.all(
      inTens([...byReceipt.keys()]).map(async (batch) => {
        // What fails as a whole is tried again at the next turn of the timer.
        const lost = await this.#changeVisibility(batch, this.#visibilitySeconds).catch(() => []);
        for (const receipt of lost) (byReceipt.get(receipt) as Held).receipt = undefined;
      }),
    );
  }

  /** Returns the receipts that SQS does not know any more. */
  async #changeVisibility(receipts: readonly string[], seconds: number): Promise<readonly string[]> {
    const { name, url } = this.#queue();
    const request = { action: 'sqs:ChangeMessageVisibility', resource: resourceOf(name) };
    const { Failed = [] } = await this.#aws.request(request, (options) =>
      this.#aws.sqs.changeMessageVisibilityBatch(
        {
          QueueUrl: url,
          Entries: receipts.map((ReceiptHandle, i) => ({
            Id: String(i),
            ReceiptHandle,
            VisibilityTimeout: seconds,
          })),
        },
        options,
      ),
    );
    return Failed.filter(({ SenderFault }) => SenderFault).map(({ Id }) => receipts[Number(Id)] as string);
  }

  #flush(): void {
    this.#isFlushComing = false;
    for (const batch of inTens(this.#acknowledged.splice(0))) {
      const deleting = this.#delete(batch.map(({ receipt }) => receipt))
        .catch(() => {}) // they come again, and the inbox knows them
        .then(() => {
          this.#deleting.delete(deleting);
          for (const { done } of batch) done();
        });
      this.#deleting.add(deleting);
    }
  }

  async #delete(receipts: readonly string[]): Promise<void> {
    const { name, url } = this.#queue();
    const request = { action: 'sqs:DeleteMessage', resource: resourceOf(name) };
    await this.#aws.request(request, (options) =>
      this.#aws.sqs.deleteMessageBatch(
        {
          QueueUrl: url,
          Entries: receipts.map((ReceiptHandle, i) => ({ Id: String(i), ReceiptHandle })),
        },
        options,
      ),
    );
  }
}

function inTens<T>(items: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / mostInBatch);
  return Array.from({ length: count }, (_, i) => items.slice(i * mostInBatch, (i + 1) * mostInBatch));
}
