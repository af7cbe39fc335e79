import { expect, it } from 'vitest';
import { MessageProcessingStatus as Status } from '../../../src/message.js';
import type { WorkUnit } from '../../../src/strategies/index.js';
import { numbered, range, stateOf } from '../workbench.js';
import type { StrategySubject } from './subject.js';

export function describeSending(subject: StrategySubject): void {
  it('a strategy sends all that is queued in one call, in order', async () => {
    await using it = subject.strategy();
    const queued = range(1, 50).map((n) => it.queueOutboxMessage(numbered(n)));
    await it.flush();
    await Promise.all(queued.map(({ carried }) => carried));
    expect(await subject.bench.stored()).toEqual(range(1, 50));
    expect(subject.bench.calls).toHaveLength(1);
  });

  it('a flush gets what it has just stored as work', async () => {
    await using it = subject.strategy();
    const message = numbered(1);
    it.queueOutboxMessage(message);
    expect(await it.flush()).toMatchObject({ outbox: [{ messageId: message.messageId }], leaseLost: [] });
  });

  it('a flush asks for work also when nothing is queued', async () => {
    await subject.bench.coordinator.processWorkBatch({
      newOutboxMessages: [numbered(1)],
      maxOutboxItems: 0,
      maxInboxItems: 0,
    });
    await using it = subject.strategy();
    expect((await it.flush()).outbox).toHaveLength(1);
  });

  it('several flushes at the same time get each item once', async () => {
    await using it = subject.strategy();
    it.queue({ newOutboxMessages: range(1, 10).map((n) => numbered(n)) });
    const batches = await Promise.all([it.flush(), it.flush(), it.flush()]);
    const handedOut = batches.flatMap(({ outbox }) => outbox.map(({ messageId }) => messageId));
    expect(handedOut).toHaveLength(10);
    expect(new Set(handedOut).size).toBe(10);
  });

  it('a strategy leases nothing when nobody takes the batch', async () => {
    const it = subject.strategy();
    it.queueOutboxMessage(numbered(1));
    await it.dispose();
    expect(await subject.bench.stored()).toEqual([1]);
    expect(await subject.bench.leased()).toBe(0);
  });

  it('a strategy carries reports, and names those whose lease was lost', async () => {
    await using it = subject.strategy();
    it.queue({ newOutboxMessages: [numbered(1), numbered(2)] });
    const [done, failed] = (await it.flush()).outbox;
    const stranger = numbered(3).messageId;
    it.queueOutboxCompletion({ messageId: done?.messageId ?? '', status: Status.Published });
    it.queueOutboxFailure({ messageId: failed?.messageId ?? '', completedStatus: 0, error: 'busy' });
    it.queueOutboxCompletion({ messageId: stranger, status: Status.Published });
    expect((await it.flush()).leaseLost).toEqual([{ source: 'outbox', messageId: stranger }]);
    const { rows } = await subject.bench.db.pool.query('select error from wh_outbox');
    expect(rows).toEqual([{ error: 'busy' }]);
  });

  it('a strategy never splits a unit, however big it is', async () => {
    await using it = subject.strategy();
    it.queueOutboxMessage(numbered(0));
    const big = it.queue({ newOutboxMessages: range(1, 1500).map((n) => numbered(n)) });
    await it.flush();
    await big.carried;
    expect(subject.bench.calls.map(({ newOutboxMessages }) => newOutboxMessages?.length)).toEqual([1, 1500]);
  });

  it('a strategy takes the same object twice as two units', async () => {
    await using it = subject.strategy();
    const unit: WorkUnit = { newOutboxMessages: [numbered(1)] };
    const twice = [it.queue(unit), it.queue(unit)];
    await it.flush();
    await Promise.all(twice.map(({ carried }) => carried));
    expect(await subject.bench.stored()).toEqual([1]); // the database ignores an id that it has
  });

  it('a failed flush loses nothing, and the next keeps the order', async () => {
    await using it = subject.strategy();
    await subject.bench.takeSchemaAway();
    const early = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
    await expect(it.flush()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    expect(await stateOf(Promise.race(early.map(({ carried }) => carried)))).toBe('pending');
    await subject.bench.bringSchemaBack();
    const late = range(4, 5).map((n) => it.queueOutboxMessage(numbered(n)));
    await it.flush();
    await Promise.all([...early, ...late].map(({ carried }) => carried));
    expect(await subject.bench.stored()).toEqual(range(1, 5));
  });

  it('units of a failed call are sent before those that were queued meanwhile', async () => {
    await using it = subject.strategy();
    await subject.bench.takeSchemaAway();
    it.queueOutboxMessage(numbered(1));
    const failing = it.flush();
    while (subject.bench.calls.length === 0) await Promise.resolve();
    it.queueOutboxMessage(numbered(2));
    await expect(failing).rejects.toThrow();
    await subject.bench.bringSchemaBack();
    it.queueOutboxMessage(numbered(3));
    await it.flush();
    expect(await subject.bench.stored()).toEqual([1, 2, 3]);
  });
}
