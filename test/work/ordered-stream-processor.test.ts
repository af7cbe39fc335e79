import { describe, expect, it } from 'vitest';
import { type ItemOutcome, type OrderedItem, OrderedStreamProcessor } from '../../src/work/index.js';
import { ControlledRuns, completed, failed, item, items } from './controlled-runs.js';

describe('order and concurrency', () => {
  it('one message of a stream runs at a time, in order, and streams run side by side', async () => {
    const runs = new ControlledRuns(10);
    runs.processor.add(items('a1', 'a2', 'b1', 'a3', 'b2'));
    expect(runs.runningIds).toEqual(['a1', 'b1']);
    await runs.run('a1').end(completed);
    expect(runs.runningIds).toEqual(['b1', 'a2']);
    await runs.run('a2').end(completed);
    expect(runs.runningIds).toEqual(['b1', 'a3']);
  });

  it('messages without a stream run independently of all others', () => {
    const runs = new ControlledRuns(10);
    runs.processor.add(items('-1', 'a1', '-2', 'a2', '-3'));
    expect(runs.runningIds).toEqual(['-1', 'a1', '-2', '-3']);
  });

  it('a message and a stream with the same id are not confused', () => {
    const runs = new ControlledRuns(10);
    runs.processor.add([
      { messageId: 'x', streamId: null },
      { messageId: 'y', streamId: 'x' },
    ]);
    expect(runs.runningIds).toEqual(['x', 'y']);
  });

  it('no more streams run at once than the limit says', async () => {
    const runs = new ControlledRuns(2);
    runs.processor.add(items('a1', 'b1', '-1', 'c1'));
    expect(runs.runningIds).toEqual(['a1', 'b1']);
    await runs.run('b1').end(completed);
    expect(runs.runningIds).toEqual(['a1', '-1']);
    expect(runs.processor.runningCount).toBe(2);
  });

  it('streams take turns: a deep one goes to the end of the line after each message', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2', 'a3', 'b1', 'b2', 'c1'));
    while (runs.running[0]) await runs.running[0].end(completed);
    const started = runs.log.filter((line) => line.startsWith('start'));
    expect(started).toEqual(['start a1', 'start b1', 'start c1', 'start a2', 'start b2', 'start a3']);
  });

  it('a stream goes on after a message that was settled in its own transaction', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2'));
    await runs.run('a1').end({ kind: 'settled' });
    expect(runs.log).toEqual(['start a1', 'settled a1', 'start a2']);
  });

  it('the processor passes the item to the run, and the reported stages to onOutcome', async () => {
    const outcomes: ItemOutcome[] = [];
    const seen: number[] = [];
    const processor = new OrderedStreamProcessor<OrderedItem & { status: number }>({
      run: async ({ status }) => {
        seen.push(status);
        return { kind: 'failed', completedStatus: 8, error: 'x' };
      },
      onOutcome: (_, outcome) => outcomes.push(outcome),
    });
    await processor.process([{ ...item('a1'), status: 2 }]);
    expect(seen).toEqual([2]);
    expect(outcomes).toEqual([{ kind: 'failed', completedStatus: 8, error: 'x' }]);
  });
});

describe('a message that does not succeed', () => {
  it.each<ItemOutcome>([failed, { kind: 'released' }, { kind: 'forgotten' }])(
    'a message that does not succeed ($kind) gives the rest of its stream back at once, in order',
    async (outcome) => {
      const runs = new ControlledRuns(10);
      runs.processor.add(items('a1', 'a2', 'b1', 'a3'));
      runs.takeLog();
      await runs.run('a1').end(outcome);
      expect(runs.log).toEqual([`${outcome.kind} a1`, 'released a2', 'released a3']);
      expect(runs.processor.heldIds).toEqual(['b1']);
    },
  );

  it('a message that fails leaves other streams alone', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'b1', 'a2', '-1'));
    await runs.run('a1').end(failed);
    expect(runs.runningIds).toEqual(['b1']);
    await runs.run('b1').end(completed);
    expect(runs.runningIds).toEqual(['-1']);
  });

  it('a stream runs again when its failed message is handed out again', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2'));
    await runs.run('a1').end(failed);
    runs.takeLog();
    runs.processor.add(items('a1', 'a2'));
    await runs.run('a1').end(completed);
    expect(runs.log).toEqual(['start a1', 'completed a1', 'start a2']);
  });

  it('the rest of a failed stream is given back before what is added meanwhile is started', async () => {
    const runs: ControlledRuns = new ControlledRuns(1, {
      onOutcome: ({ messageId }, { kind }) => {
        runs.log.push(`${kind} ${messageId}`);
        if (kind === 'failed') runs.processor.add(items('a1', 'a2'));
      },
    });
    runs.processor.add(items('a1', 'a2', 'a3'));
    runs.takeLog();
    await runs.run('a1').end(failed);
    expect(runs.log).toEqual(['failed a1', 'released a2', 'released a3', 'start a1']);
    expect(runs.processor.heldIds).toEqual(['a1', 'a2']);
  });

  it('a message fails with nothing done when its run rejects', async () => {
    const outcomes: ItemOutcome[] = [];
    const error = new Error('rejected');
    const runs = new ControlledRuns(1, { onOutcome: (_, outcome) => outcomes.push(outcome) });
    runs.processor.add(items('a1'));
    await runs.run('a1').throw(error);
    expect(outcomes).toEqual([{ kind: 'failed', completedStatus: 0, error }]);
  });

  it('a message fails with nothing done when its run throws before it returns a promise', async () => {
    const outcomes: [string, ItemOutcome][] = [];
    const error = new Error('thrown');
    const processor = new OrderedStreamProcessor<OrderedItem>({
      maxConcurrentStreams: 1,
      run: () => {
        throw error;
      },
      onOutcome: ({ messageId }, outcome) => outcomes.push([messageId, outcome]),
    });
    processor.add(items('a1', 'a2', 'b1'));
    await processor.whenIdle();
    expect(outcomes).toEqual([
      ['a1', { kind: 'failed', completedStatus: 0, error }],
      ['a2', { kind: 'released' }],
      ['b1', { kind: 'failed', completedStatus: 0, error }],
    ]);
  });
});

describe('Large numbers of messages', () => {
  it.each([
    ['one stream', () => 's'],
    ['a stream each', (i: number) => `s${i}`],
    ['no stream', () => null],
  ])(
    'the processor runs 100 000 messages of %s, in order, and keeps nothing of them',
    async (_, streamOf) => {
      const ran: string[] = [];
      let outcomes = 0;
      const processor = new OrderedStreamProcessor<OrderedItem>({
        run: async ({ messageId }) => {
          ran.push(messageId);
          return completed;
        },
        onOutcome: () => outcomes++,
      });
      const many = Array.from({ length: 100_000 }, (_item, i) => ({
        messageId: `m${i}`,
        streamId: streamOf(i),
      }));
      await processor.process(many);
      await processor.whenIdle();
      expect(outcomes).toBe(many.length);
      expect(ran).toEqual(many.map(({ messageId }) => messageId));
      expect(processor.held).toEqual([]);
    },
  );

  it('the processor gives back 200 000 messages when the first fails, and forgets as many', async () => {
    const many = Array.from({ length: 200_000 }, (_, i) => ({ messageId: `a${i}`, streamId: 'a' }));
    const runs = new ControlledRuns(1);
    runs.processor.add(many);
    await runs.run('a0').end(failed);
    expect(runs.takeLog()).toHaveLength(many.length + 1);
    runs.processor.add(many);
    expect(runs.processor.forget(many.map(({ messageId }) => messageId))).toHaveLength(many.length);
    expect(runs.processor.heldCount).toBe(0);
  });
});

describe('options', () => {
  it.each([0, -1, 1.5, Number.NaN, 10_001])(
    'the processor refuses %s streams at once',
    (maxConcurrentStreams) => {
      expect(() => new ControlledRuns(maxConcurrentStreams)).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          details: expect.objectContaining({ option: 'maxConcurrentStreams' }),
        }),
      );
    },
  );

  it.each([1, 10_000])('the processor accepts %s streams at once', (maxConcurrentStreams) => {
    expect(() => new ControlledRuns(maxConcurrentStreams)).not.toThrow();
  });
});
