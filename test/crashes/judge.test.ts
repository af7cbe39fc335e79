import { describe, expect, it } from 'vitest';
import { type Effect, faultless, judge } from './support/judge.js';

const expected = { receptors: ['place'], streams: ['a', 'b'], steps: 2 };
const effect = (stream: string, step: number, receptor = 'place'): Effect => ({ receptor, stream, step });

describe('The judge', () => {
  it('the judge finds no fault when every stream has its steps once and in order', () => {
    expect(judge(expected, [effect('b', 1), effect('a', 1), effect('a', 2), effect('b', 2)])).toEqual(
      faultless,
    );
  });

  it('the judge names lost steps, also the last step of a stream and a whole stream', () => {
    expect(judge(expected, [effect('a', 1)]).lost).toEqual(['place a/2', 'place b/1', 'place b/2']);
  });

  it('the judge names doubled steps, also when the second comes much later', () => {
    const effects = [effect('a', 1), effect('a', 2), effect('b', 1), effect('b', 2), effect('a', 1)];
    expect(judge(expected, effects)).toEqual({ ...faultless, doubled: ['place a/1'] });
  });

  it('the judge names steps that were overtaken within their stream', () => {
    const effects = [effect('a', 2), effect('a', 1), effect('b', 1), effect('b', 2)];
    expect(judge(expected, effects)).toEqual({ ...faultless, outOfOrder: ['place a/1'] });
  });

  it('the judge names steps that nobody has sent', () => {
    const effects = [effect('a', 1), effect('a', 2), effect('b', 1), effect('b', 2), effect('b', 3)];
    expect(judge(expected, effects)).toEqual({ ...faultless, invented: ['place b/3'] });
  });

  it('the judge looks at each receptor for itself', () => {
    const two = { ...expected, receptors: ['place', 'note'], streams: ['a'] };
    const effects = [effect('a', 1), effect('a', 2), effect('a', 2, 'note')];
    expect(judge(two, effects)).toEqual({ ...faultless, lost: ['note a/1'] });
  });
});
