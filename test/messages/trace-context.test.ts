import { describe, expect, it } from 'vitest';
import { childTraceparent, newTraceparent, parseTraceparent } from '../../src/messages/index.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const given = `00-${traceId}-${spanId}-01`;

describe('A traceparent', () => {
  it('a traceparent is read as the specification says', () => {
    expect(parseTraceparent(given)).toEqual({ traceId, spanId, flags: '01' });
  });

  it('a traceparent of a later version is read as far as it is known', () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-09-what-comes`)).toEqual({
      traceId,
      spanId,
      flags: '09',
    });
    expect(parseTraceparent(`cc-${traceId}-${spanId}-09`)).toEqual({ traceId, spanId, flags: '09' });
  });

  it.each([
    ['of version ff', `ff-${traceId}-${spanId}-01`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['with a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['in capital letters', given.toUpperCase()],
    ['with more than version 00 has', `${given}-00`],
    ['of a later version with more but no dash', `cc-${traceId}-${spanId}-01.what`],
    ['cut short', given.slice(0, -1)],
    ['that is empty', ''],
    ['that is no text', 7],
    ['that is missing', undefined],
  ])('a traceparent %s is not valid', (_, value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });

  it('a new traceparent is valid and begins a trace of its own', () => {
    const [a, b] = [newTraceparent(), newTraceparent()].map(parseTraceparent);
    expect(a).toMatchObject({ flags: '01' });
    expect(a?.traceId).not.toBe(b?.traceId);
  });

  it('every new traceparent has a trace id and a span id of its own', () => {
    const made = Array.from({ length: 5000 }, newTraceparent).map(parseTraceparent);
    expect(new Set(made.map((context) => context?.traceId)).size).toBe(made.length);
    expect(new Set(made.map((context) => context?.spanId)).size).toBe(made.length);
  });

  it('a child traceparent has the same trace and flags, and a new span', () => {
    const child = parseTraceparent(childTraceparent(`00-${traceId}-${spanId}-00`));
    expect(child).toMatchObject({ traceId, flags: '00' });
    expect(child?.spanId).not.toBe(spanId);
    expect(parseTraceparent(childTraceparent('nonsense'))).toBeDefined();
  });
});
