import { describe, expect, it } from 'vitest';
import { LazySignal } from '../src/lazy-signal.js';

describe('An abort whose signal is made on demand', () => {
  it('a signal that was read before the abort is aborted with its reason', () => {
    const run = new LazySignal();
    const { signal } = run;
    const heard: unknown[] = [];
    signal.addEventListener('abort', () => heard.push(signal.reason));
    run.abort('the lease is lost');
    expect(heard).toEqual(['the lease is lost']);
    expect(run.signal).toBe(signal);
  });

  it('a signal that is read after the abort is aborted already, with the first reason', () => {
    const run = new LazySignal();
    run.abort('the lease is lost');
    run.abort('the instance stops');
    expect(run.signal.aborted).toBe(true);
    expect(run.signal.reason).toBe('the lease is lost');
    expect(run).toMatchObject({ aborted: true, reason: 'the lease is lost' });
  });

  it('a listener is called once by the abort, and at once when it comes after it', () => {
    const run = new LazySignal();
    const heard: string[] = [];
    run.whenAborted(() => heard.push('before'));
    expect(heard).toEqual([]);
    run.abort('the lease is lost');
    run.abort('the instance stops');
    run.whenAborted(() => heard.push('after'));
    expect(heard).toEqual(['before', 'after']);
  });
});
