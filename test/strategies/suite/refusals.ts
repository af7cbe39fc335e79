import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { WorkUnit } from '../../../src/strategies/index.js';
import { numbered, poison } from '../workbench.js';
import type { StrategySubject } from './subject.js';

export function describeRefusals(subject: StrategySubject): void {
  it('a strategy refuses one bad unit and stores all others', async () => {
    await using it = subject.strategy();
    const before = it.queueOutboxMessage(numbered(1));
    const bad = it.queueOutboxMessage(poison());
    const after = it.queueOutboxMessage(numbered(2));
    const verdict = expect(bad.carried).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await it.flush();
    await Promise.all([verdict, before.carried, after.carried]);
    expect(await subject.bench.stored()).toEqual([1, 2]);
  });

  it('a strategy tells onError of a refusal that nobody listens to', async () => {
    await using it = subject.strategy();
    it.queueOutboxMessage(poison());
    await it.flush();
    await turns(2);
    expect(subject.errors).toMatchObject([{ code: 'INVALID_REQUEST' }]);
  });

  it('a strategy does not tell onError of a refusal that is listened to after the flush', async () => {
    await using it = subject.strategy();
    const bad = it.queueOutboxMessage(poison());
    await it.flush();
    await expect(bad.carried).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await turns(2);
    expect(subject.errors).toEqual([]);
  });

  it('a strategy goes on when onError throws', async () => {
    const logged: object[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (facts: object) => logged.push(facts) };
    const onError = () => {
      throw new Error('the alarm is broken');
    };
    await using it = subject.strategy({ onError, logger });
    it.queueOutboxMessage(poison());
    it.queueOutboxMessage(numbered(1));
    await it.flush();
    expect(await subject.bench.stored()).toEqual([1]);
    expect(logged).toMatchObject([{ err: { message: 'the alarm is broken' } }]);
  });

  it('a strategy refuses a unit with a part that does not exist, or that is not a list', async () => {
    await using it = subject.strategy();
    const queue = (unit: object) => () => it.queue(unit as WorkUnit);
    expect(queue({ newOutboxMessage: [] })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', hint: 'Did you mean newOutboxMessages?' }),
    );
    expect(queue({ newOutboxMessages: numbered(1) })).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
