import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WhizbangError } from '../src/errors.js';
import {
  answerWithin,
  beforeDeadline,
  unansweredMsOf,
  unlessAborted,
  withinTime,
} from '../src/time-limits.js';

const never = new Promise<never>(() => {});

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Whatever became of the waiting, no timer may keep a process alive. */
const expectNoTimers = () => expect(vi.getTimerCount()).toBe(0);

describe('answerWithin', () => {
  it('answerWithin gives the answer that comes in time, and leaves no timer', async () => {
    expect(await answerWithin(100, Promise.resolve('answer'))).toBe('answer');
    expect(await answerWithin(undefined, Promise.resolve('answer'))).toBe('answer');
    expectNoTimers();
  });

  it('answerWithin passes an error on, and leaves no timer', async () => {
    await expect(answerWithin(100, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expectNoTimers();
  });

  it('answerWithin rejects with CONNECTION_LOST, which carries how long nothing came', async () => {
    const waiting = answerWithin(1500, never).catch((error: unknown) => error as WhizbangError);
    await vi.advanceTimersByTimeAsync(1500);
    const error = (await waiting) as WhizbangError;
    expect(error.code).toBe('CONNECTION_LOST');
    expect(unansweredMsOf(error)).toBe(1500);
  });
});

describe('withinTime', () => {
  const { signal } = new AbortController();

  it('withinTime gives what the work returns, and leaves no timer', async () => {
    expect(await withinTime(1, signal, async () => 7)).toBe(7);
    expectNoTimers();
  });

  it('withinTime aborts the signal of the work when the time is up, and rejects with HANDLER_TIMEOUT', async () => {
    let given: AbortSignal | undefined;
    const waiting = withinTime(2, signal, (inner) => {
      given = inner;
      return never;
    }).catch((error: unknown) => error as WhizbangError);
    await vi.advanceTimersByTimeAsync(2000);
    const error = await waiting;
    expect(error).toBeInstanceOf(WhizbangError);
    expect(error).toMatchObject({ code: 'HANDLER_TIMEOUT' });
    expect(given?.reason).toBe(error);
  });
});

describe('beforeDeadline', () => {
  it('beforeDeadline tells whether the work was done by then', async () => {
    expect(await beforeDeadline(Promise.resolve(), performance.now() + 10)).toBe(true);
    const late = beforeDeadline(never, performance.now() + 10);
    await vi.advanceTimersByTimeAsync(10);
    expect(await late).toBe(false);
    expectNoTimers();
  });
});

describe('unlessAborted', () => {
  it('unlessAborted gives what the work gives while nobody aborts, and leaves no listener', async () => {
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    expect(await unlessAborted(controller.signal, Promise.resolve(7))).toBe(7);
    expect(remove).toHaveBeenCalledOnce();
    expect(await unlessAborted(undefined, Promise.resolve(7))).toBe(7);
  });

  it('unlessAborted rejects at once with the reason of the signal, also if it was aborted before', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(controller.signal, never);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(unlessAborted(controller.signal, never)).rejects.toBe('enough');
  });

  it('unlessAborted waits for the grace that the reason allows, and then rejects with giveUp', async () => {
    const controller = new AbortController();
    const options = { graceMs: () => 50, giveUp: (reason: unknown) => `gave up: ${String(reason)}` };
    const work = new Promise<string>((resolve) => setTimeout(resolve, 40, 'done'));
    const inTime = unlessAborted(controller.signal, work, options);
    const late = unlessAborted(controller.signal, never, options).catch((error: unknown) => error);
    controller.abort('enough');
    await vi.advanceTimersByTimeAsync(50);
    expect(await inTime).toBe('done');
    expect(await late).toBe('gave up: enough');
    expectNoTimers();
  });
});
