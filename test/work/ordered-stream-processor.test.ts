import { describe, expect, it, vi } from 'vitest';
import { WhizbangError } from '../../src/errors.js';
import { type ItemOutcome, type OrderedItem, OrderedStreamProcessor } from '../../src/work/index.js';
import { ControlledRuns, completed, failed, item, items, quiet } from './controlled-runs.js';

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

describe('leases that are lost', () => {
  it('a lost lease aborts the signal of its run, whose outcome is ignored', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1'));
    const run = runs.run('a1');
    expect(runs.processor.forget(['a1'])).toEqual(['a1']);
    expect(run.signal.reason).toBeInstanceOf(WhizbangError);
    expect(run.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { messageId: 'a1' } });
    await run.end(completed);
    expect(runs.log).toEqual(['start a1', 'forgotten a1']);
  });

  it('a lost lease of a queued message drops everything behind it too', () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2', 'a3', 'a4'));
    expect(runs.processor.forget(['a3'])).toEqual(['a3', 'a4']);
    expect(runs.log).toEqual(['start a1', 'forgotten a3', 'forgotten a4']);
    expect(runs.processor.heldIds).toEqual(['a1', 'a2']);
    expect(runs.run('a1').signal.aborted).toBe(false);
  });

  it('a lost lease of a running message gives back what waits behind it and is not lost', () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2', 'a3'));
    expect(runs.processor.forget(['a3', 'a1'])).toEqual(['a1', 'a3']);
    expect(runs.log).toEqual(['start a1', 'forgotten a1', 'forgotten a3', 'released a2']);
  });

  it('a run with a lost lease keeps its stream and its place until it returns', async () => {
    const runs = new ControlledRuns(2);
    runs.processor.add(items('a1', 'b1', 'c1'));
    const zombie = runs.run('a1');
    runs.processor.forget(['a1']);
    expect(runs.processor.heldIds).toEqual(['b1', 'c1']);
    expect(runs.runningIds).toEqual(['a1', 'b1']);
    expect(runs.processor.runningCount).toBe(2);
    runs.processor.add(items('a1', 'a2'));
    await runs.run('b1').end(completed);
    await runs.run('c1').end(completed);
    expect(runs.runningIds).toEqual(['a1']);
    runs.takeLog();
    await zombie.end(failed);
    expect(runs.log).toEqual(['start a1']);
    expect(runs.errors).toEqual([]);
  });

  it('a message without a stream does not run beside its own zombie', async () => {
    const runs = new ControlledRuns(2);
    runs.processor.add(items('-1'));
    runs.processor.forget(['-1']);
    runs.processor.add(items('-1', '-2'));
    expect(runs.runningIds).toEqual(['-1', '-2']);
    expect(runs.processor.heldIds).toEqual(['-1', '-2']);
    await runs.run('-1').end(completed);
    expect(runs.runningIds).toEqual(['-2', '-1']);
  });

  it('forget accepts ids that are named twice, or that are not held', () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2'));
    expect(runs.processor.forget(['a1', 'z', 'a1', 'a2', 'a2'])).toEqual(['a1', 'a2']);
    expect(runs.log).toEqual(['start a1', 'forgotten a1', 'forgotten a2']);
  });
});

describe('A message that is handed out again while it is held', () => {
  it('a message that is handed out again while it runs is not run twice', async () => {
    const runs = new ControlledRuns(5);
    runs.processor.add(items('a1', '-1'));
    runs.processor.add(items('a1', '-1'));
    expect(runs.processor.heldCount).toBe(2);
    await runs.run('a1').end(completed);
    await runs.run('-1').end(completed);
    expect(runs.log).toEqual([
      'start a1',
      'start -1',
      'error a1',
      'error -1',
      'completed a1',
      'completed -1',
    ]);
    expect(runs.errors[0]).toMatchObject({
      code: 'LEASE_LOST',
      message: 'Message a1 was handed out again while it was running here',
    });
  });

  it('a message that is handed out again replaces its queued copy', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'a2', 'a3'));
    const fresh = { ...item('a2'), status: 8 };
    runs.processor.add([fresh, item('a4')]);
    await runs.run('a1').end(completed);
    expect(runs.run('a2').item).toBe(fresh);
    await runs.run('a2').end(completed);
    await runs.run('a3').end(completed);
    expect(runs.log.filter((line) => line.startsWith('start'))).toEqual([
      'start a1',
      'start a2',
      'start a3',
      'start a4',
    ]);
    expect(runs.errors).toHaveLength(1);
  });
});

describe('stopping', () => {
  it('releaseQueued gives back what was not started, in order, and what runs goes on', async () => {
    const runs = new ControlledRuns(2);
    runs.processor.add(items('a1', 'a2', 'b1', '-1', 'c1', 'a3', 'c2'));
    runs.takeLog();
    runs.processor.releaseQueued();
    expect(runs.takeLog()).toEqual([
      'released a2',
      'released a3',
      'released c1',
      'released c2',
      'released -1',
    ]);
    await runs.run('a1').end(completed);
    await runs.run('b1').end(completed);
    expect(runs.log).toEqual(['completed a1', 'completed b1']);
    expect(runs.processor.heldCount).toBe(0);
  });

  it('abortRunning aborts what runs with the reason, and the run decides the outcome', async () => {
    const runs = new ControlledRuns(2);
    runs.processor.add(items('a1', 'b1'));
    const reason = new Error('stop');
    runs.processor.abortRunning(reason);
    expect(runs.running.map(({ signal }) => signal.reason)).toEqual([reason, reason]);
    await runs.run('a1').end(completed);
    await runs.run('b1').end({ kind: 'released' });
    expect(runs.log).toEqual(['start a1', 'start b1', 'completed a1', 'released b1']);
  });

  it('the processor is idle when nothing is queued and every run has returned, forgotten ones too', async () => {
    const runs = new ControlledRuns(1);
    await runs.processor.whenIdle();
    runs.processor.add(items('a1', 'a2'));
    let isIdle = false;
    const idle = runs.processor.whenIdle().then(() => {
      isIdle = true;
    });
    await runs.run('a1').end(completed);
    const zombie = runs.run('a2');
    runs.processor.forget(['a2']);
    await quiet();
    expect(runs.processor.heldCount).toBe(0);
    expect(isIdle).toBe(false);
    await zombie.end(completed);
    await idle;
    expect(runs.processor.runningCount).toBe(0);
  });
});

describe('process', () => {
  it('process resolves when all of its own items have their outcome', async () => {
    const runs = new ControlledRuns(5);
    runs.processor.add(items('z1'));
    let isDone = false;
    const done = runs.processor.process(items('a1', 'a2', 'b1')).then(() => {
      isDone = true;
    });
    await runs.run('a1').end(completed);
    await runs.run('b1').end(completed);
    expect(isDone).toBe(false);
    await runs.run('a2').end(failed);
    await done;
    expect(runs.runningIds).toEqual(['z1']);
  });

  it('process resolves at once without items', async () => {
    await new ControlledRuns(1).processor.process([]);
  });

  it('process gives back what was not started when its signal aborts between messages', async () => {
    const runs = new ControlledRuns(1);
    const cancel = new AbortController();
    const done = runs.processor.process(items('a1', 'a2', 'b1', 'a3'), cancel.signal);
    runs.processor.add(items('a4', 'z1'));
    cancel.abort();
    expect(runs.takeLog()).toEqual(['start a1', 'released a2', 'released a3', 'released a4', 'released b1']);
    expect(runs.run('a1').signal.aborted).toBe(false);
    await runs.run('a1').end(completed);
    await done;
    expect(runs.log).toEqual(['completed a1', 'start z1']);
  });

  it('process starts nothing when its signal is aborted already', async () => {
    const runs = new ControlledRuns(1);
    await runs.processor.process(items('a1', '-1'), AbortSignal.abort());
    expect(runs.log).toEqual(['released a1', 'released -1']);
  });

  it('process leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const runs = new ControlledRuns(1);
    const done = runs.processor.process(items('a1'), signal);
    await runs.run('a1').end(completed);
    await done;
    expect(added).toHaveBeenCalledOnce();
    expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1]);
  });

  it('process does not wait for copies of items that are already held', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1'));
    const first = runs.processor.process(items('a1', 'a2'));
    const second = runs.processor.process(items('a2'));
    await first;
    await runs.run('a1').end(completed);
    await runs.run('a2').end(completed);
    await second;
    expect(runs.errors).toHaveLength(2);
  });
});

describe('callbacks that misbehave', () => {
  it('an onOutcome that throws is reported and stops nothing', async () => {
    const error = new Error('taken badly');
    const runs = new ControlledRuns(1, {
      onOutcome: () => {
        throw error;
      },
    });
    const done = runs.processor.process(items('a1', 'a2'));
    await runs.run('a1').end(completed);
    await runs.run('a2').end(completed);
    await done;
    expect(runs.errors).toEqual([error, error]);
  });

  it('an onError that throws ends on the console and stops nothing', async () => {
    const console_ = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runs = new ControlledRuns(1, {
      onOutcome: () => {
        throw new Error('first');
      },
      onError: () => {
        throw new Error('second');
      },
    });
    runs.processor.add(items('a1', 'b1'));
    await runs.run('a1').end(completed);
    expect(runs.runningIds).toEqual(['b1']);
    expect(console_).toHaveBeenCalledOnce();
    console_.mockRestore();
  });

  it('an error of onOutcome ends on the console without an onError', async () => {
    const console_ = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runs = new ControlledRuns(1, {
      onError: undefined,
      onOutcome: () => {
        throw new Error('taken badly');
      },
    });
    runs.processor.add(items('a1'));
    await runs.run('a1').end(completed);
    expect(console_).toHaveBeenCalledOnce();
    console_.mockRestore();
  });

  it('an abort listener may call back into the processor', async () => {
    const runs = new ControlledRuns(1);
    runs.processor.add(items('a1', 'b1'));
    runs.run('a1').signal.addEventListener('abort', () => runs.processor.add(items('a1', 'c1')));
    runs.processor.forget(['a1']);
    await runs.run('a1').end(completed);
    expect(runs.log).toEqual(['start a1', 'forgotten a1', 'start b1']);
    expect(runs.processor.heldIds).toEqual(['b1', 'a1', 'c1']);
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
