import { expect, it } from 'vitest';
import type { WhizbangError } from '../../../src/errors.js';
import { numbered, range } from '../workbench.js';
import type { StrategySubject } from './subject.js';

const short = { intervalMs: 5 };

/** Nobody flushes. */
export function describeSendingByItself(subject: StrategySubject): void {
  it('a strategy sends by itself when nobody flushes', async () => {
    await using it = subject.strategy(short);
    await it.queueOutboxMessage(numbered(1)).carried;
    expect(await subject.bench.stored()).toEqual([1]);
    expect(await subject.bench.leased()).toBe(0);
  });

  it('a strategy that sends by itself tells onError of each failure, tries again, and keeps the order', async () => {
    let told = () => {};
    const failedTwice = new Promise<void>((resolve) => {
      told = resolve;
    });
    const onError = (error: WhizbangError) => {
      if (subject.errors.push(error) === 2) told();
    };
    await using it = subject.strategy({ ...short, onError });
    await subject.bench.takeSchemaAway();
    const queued = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
    await failedTwice;
    await subject.bench.bringSchemaBack();
    await Promise.all(queued.map(({ carried }) => carried));
    expect(await subject.bench.stored()).toEqual([1, 2, 3]);
    expect(subject.errors[0]).toMatchObject({ code: 'NOT_MIGRATED' });
  });

  it('a strategy still sends by itself after a failure that has passed', async () => {
    await using it = subject.strategy(short);
    await subject.bench.takeSchemaAway();
    it.queueOutboxMessage(numbered(1));
    await it.flush().catch(() => {});
    await subject.bench.bringSchemaBack();
    await it.flush();
    await it.queueOutboxMessage(numbered(2)).carried;
    expect(await subject.bench.stored()).toEqual([1, 2]);
  });
}
