import { describe, expect, it, vi } from 'vitest';
import { ControlledRuns, completed, failed, items, quiet } from './controlled-runs.js';

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
