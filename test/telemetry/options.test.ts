import { describe, expect, it } from 'vitest';
import { isYoung } from '../../src/telemetry/message-context.js';
import { resolveTelemetry } from '../../src/telemetry/telemetry-options.js';

describe('The option telemetry', () => {
  it.each([
    [undefined, { continueSeconds: 300 }],
    [true, { continueSeconds: 300 }],
    [{}, { continueSeconds: 300 }],
    [{ continueSeconds: 0 }, { continueSeconds: 0 }],
    [{ continueSeconds: 86_400 }, { continueSeconds: 86_400 }],
    [false, undefined],
  ])('the option telemetry takes %j', (given, resolved) => {
    expect(resolveTelemetry(given)).toEqual(resolved);
  });

  it.each([
    [{ continueSeconds: -1 }],
    [{ continueSeconds: 86_401 }],
    [{ continueSeconds: 'long' }],
    [{ continueSecond: 1 }],
    ['yes'],
    [null],
  ])('the option telemetry refuses %j', (given) => {
    expect(() => resolveTelemetry(given as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
  });
});

describe('The age of a message', () => {
  const traced = (fields: object) => ({ messageId: 'x', metadata: null, isRetry: false, ...fields });
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000);
  const idOf = (date: Date) => {
    const hex = date.getTime().toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
  };

  it('the age of a message is that of its last hop', () => {
    const hops = [at(1000), at(10)].map((date) => ({
      service: 's',
      instanceId: 'i',
      at: date.toISOString(),
    }));
    expect(isYoung(traced({ metadata: { hops } }), 60)).toBe(true);
    expect(isYoung(traced({ metadata: { hops } }), 5)).toBe(false);
  });

  it('the age of a message without hops is that of its id, where that has a time', () => {
    expect(isYoung(traced({ messageId: idOf(at(10)) }), 60)).toBe(true);
    expect(isYoung(traced({ messageId: idOf(at(100)) }), 60)).toBe(false);
    expect(isYoung(traced({ messageId: '7d3a1c52-1b52-4b52-8b52-1b521b521b52' }), 60)).toBe(true);
  });
});
