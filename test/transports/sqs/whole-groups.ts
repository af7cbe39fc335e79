// The stand-in hands out one message of a group per request. AWS hands out as many as it can, up to ten, and keeps each at
// its place. This teaches it that, so that several unacknowledged messages of a stream are tried too.

interface Queue {
  fifoMessages: Map<string, { sequenceNumber: string }[]>;
  fifoLockedGroups: Map<string, number>;
  dequeueFifo: (this: Queue, most: number, ...others: unknown[]) => unknown[];
  changeVisibility: (this: Queue, receipt: string, seconds: number) => void;
  processTimers: (this: Queue) => void;
}

/** Not exported by the package: found beside its entry, which shares it. */
const store = new URL('./sqs/sqsStore.js', import.meta.resolve('fauxqs'));
const { SqsQueue } = (await import(store.href)) as { SqsQueue: { prototype: Queue } };

/** From now on, in this process, until the returned function is called: the next test file counts on the stand-in as it is. */
export function handOutWholeGroups(): () => void {
  const queue = SqsQueue.prototype;
  const { dequeueFifo, changeVisibility, processTimers } = queue;
  queue.dequeueFifo = function (most, ...others) {
    const before = new Set(this.fifoLockedGroups.keys());
    const result = dequeueFifo.call(this, most, ...others);
    const locks = this.fifoLockedGroups;
    for (const [group, count] of locks) {
      if (before.has(group)) continue;
      let taken = count;
      while (result.length < most && this.fifoMessages.has(group)) {
        this.fifoLockedGroups = new Map([...this.fifoMessages.keys()].map((each) => [each, 1]));
        this.fifoLockedGroups.delete(group);
        result.push(...dequeueFifo.call(this, 1, ...others));
        taken++;
      }
      locks.set(group, taken);
      this.fifoLockedGroups = locks;
    }
    return result;
  };
  queue.changeVisibility = function (receipt, seconds) {
    changeVisibility.call(this, receipt, seconds);
    backInPlace(this);
  };
  queue.processTimers = function () {
    processTimers.call(this);
    backInPlace(this);
  };
  return () => void Object.assign(queue, { dequeueFifo, changeVisibility, processTimers });
}

function backInPlace({ fifoMessages }: Queue): void {
  for (const messages of fifoMessages.values()) {
    messages.sort((a, b) => (a.sequenceNumber < b.sequenceNumber ? -1 : 1));
  }
}
