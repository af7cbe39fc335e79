import { describe, expect, it } from 'vitest';
import { describedError, describeError } from '../src/describe-error.js';
import { WhizbangError } from '../src/errors.js';

class CardDeclined extends Error {
  override readonly name = 'CardDeclined';
}

describe('describedError', () => {
  it.each([
    ['a plain one', new Error('no card'), { name: 'Error', message: 'no card' }],
    ['one of several lines', new TypeError('no\n  card'), { name: 'TypeError', message: 'no\n  card' }],
    ['one without a message', new Error(''), { message: expect.any(String) }],
    [
      'one with a code',
      new WhizbangError('LEASE_LOST', { message: 'lost' }),
      { code: 'LEASE_LOST', message: 'lost' },
    ],
    ['one with a cause', new Error('no card', { cause: new Error('no money') }), { message: 'no card' }],
    ['a text', 'timeout: no answer', { name: 'Error', message: 'timeout: no answer' }],
    ['nothing', undefined, { message: 'undefined was thrown instead of an error' }],
  ])('an error is rebuilt from its description: %s', (_, thrown, expected) => {
    const text = describeError(thrown);
    const error = describedError(text);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject(expected);
    expect(error.stack).toBe(text);
    expect(describeError(error).startsWith(text)).toBe(true);
  });

  it('an error that names itself before it is thrown keeps its name', () => {
    const error = new Error('declined');
    error.stack = `CardDeclined: declined\n    at somewhere`;
    expect(describedError(describeError(error)).name).toBe('CardDeclined');
    expect(describedError(describeError(new CardDeclined('x'))).message).toBe('x');
  });
});
