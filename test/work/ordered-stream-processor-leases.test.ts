import { describe, expect, it } from 'vitest';
import { WhizbangError } from '../../src/errors.js';
import { ControlledRuns, completed, failed, item, items } from './controlled-runs.js';

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
      message: 'Message a1 was handed out again while it was running here.',
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
