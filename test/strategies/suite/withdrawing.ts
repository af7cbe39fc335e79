import { expect, it } from 'vitest';
import { CallLine, type CreateStrategyOptions } from '../../../src/strategies/index.js';
import { openSession } from '../../support/sessions.js';
import { numbered } from '../workbench.js';
import type { StrategySubject } from './subject.js';

export function describeWithdrawing(subject: StrategySubject): void {
  it('a unit can be withdrawn until a call has it', async () => {
    await using it = subject.strategy();
    const unwanted = it.queueOutboxMessage(numbered(1));
    expect(unwanted.withdraw()).toBe(true);
    expect(unwanted.withdraw()).toBe(false);
    await expect(unwanted.carried).rejects.toMatchObject({ code: 'DISPOSED' });
    const wanted = it.queueOutboxMessage(numbered(2));
    await it.flush();
    expect(wanted.withdraw()).toBe(false);
    expect(await subject.bench.stored()).toEqual([2]);
  });

  it('a unit cannot be withdrawn while a call has it, and can after that call has failed', async () => {
    await using it = subject.strategy();
    const { client, pid } = await openSession(subject.bench.db);
    await client.query('begin; lock table wh_outbox in access exclusive mode');
    const unit = it.queueOutboxMessage(numbered(1));
    // Listened to from the start: it may fail before the cancelling is answered.
    const failing = expect(it.flush()).rejects.toMatchObject({ code: 'TIMEOUT' });
    const backend = await subject.blockedBackend(pid);
    expect(unit.withdraw()).toBe(false);
    await client.query('select pg_cancel_backend($1)', [backend]);
    await failing;
    expect(unit.withdraw()).toBe(true);
    await client.query('rollback');
    await it.flush();
    expect(await subject.bench.stored()).toEqual([]);
  });

  it('a unit that waits behind the call of another strategy can be withdrawn', async () => {
    const line = new CallLine({ coordinator: subject.bench.coordinator });
    await using other = subject.strategy({ line, coordinator: undefined } as Partial<CreateStrategyOptions>);
    await using it = subject.strategy({ line, coordinator: undefined } as Partial<CreateStrategyOptions>);
    const { client, pid } = await openSession(subject.bench.db);
    await client.query('begin; lock table wh_outbox in access exclusive mode');
    other.queueOutboxMessage(numbered(1));
    const flushing = other.flush();
    await subject.blockedBackend(pid);
    const unit = it.queueOutboxMessage(numbered(2));
    const next = it.flush();
    expect(unit.withdraw()).toBe(true);
    await client.query('rollback');
    await Promise.all([flushing, next]);
    expect(await subject.bench.stored()).toEqual([1]);
  });
}
