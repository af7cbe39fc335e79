import { describe, expect, it, vi } from 'vitest';
import { ControlledRuns, completed, items } from './controlled-runs.js';

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
