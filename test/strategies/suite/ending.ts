import { expect, it } from 'vitest';
import { openSession } from '../../support/sessions.js';
import { numbered, range, stateOf } from '../workbench.js';
import type { StrategySubject } from './subject.js';

export function describeEnding(subject: StrategySubject): void {
  it('a strategy flushes at the end of its scope', async () => {
    {
      await using it = subject.strategy();
      it.queueOutboxMessage(numbered(1));
      it.queueOutboxMessage(numbered(2));
    }
    expect(await subject.bench.stored()).toEqual([1, 2]);
  });

  it('a strategy makes no call at its end when there is nothing to flush', async () => {
    await subject.strategy().dispose();
    expect(subject.bench.calls).toEqual([]);
  });

  it('a strategy fails with DISPOSED after its end, and can be disposed again', async () => {
    const it = subject.strategy();
    await Promise.all([it.dispose(), it.dispose()]);
    await it.dispose();
    const disposed = expect.objectContaining({ code: 'DISPOSED' });
    expect(() => it.queueOutboxMessage(numbered(1))).toThrow(disposed);
    expect(() => it.renewInboxLease(numbered(1).messageId)).toThrow(disposed);
    await expect(it.flush()).rejects.toEqual(disposed);
  });

  it('disposing rejects when the last flush fails, and so does all that waited', async () => {
    const it = subject.strategy();
    await subject.bench.takeSchemaAway();
    const queued = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
    await expect(it.dispose()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    for (const { carried } of queued) {
      await expect(carried).rejects.toMatchObject({ code: 'DISPOSED', cause: { code: 'NOT_MIGRATED' } });
    }
    await it.dispose();
    await subject.bench.bringSchemaBack();
    expect(await subject.bench.stored()).toEqual([]);
  });

  it('disposing waits for the call in flight, and sends what came after it', async () => {
    const it = subject.strategy();
    const { client, pid } = await openSession(subject.bench.db);
    await client.query('begin; lock table wh_outbox in access exclusive mode');
    it.queueOutboxMessage(numbered(1));
    const flushing = it.flush();
    await subject.blockedBackend(pid);
    const late = it.queueOutboxMessage(numbered(2));
    const disposing = it.dispose();
    expect(await stateOf(disposing)).toBe('pending');
    await client.query('rollback');
    await Promise.all([flushing, disposing, late.carried]);
    expect(await subject.bench.stored()).toEqual([1, 2]);
  });
}
