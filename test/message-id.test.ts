import { describe, expect, it } from 'vitest';
import { messageIdGenerator, newMessageId } from '../src/message-id.js';

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('A message id', () => {
  it('a message id is a UUID of version 7 that carries the time', () => {
    const before = Date.now();
    const id = newMessageId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('a message id is greater than all made before it, also within one millisecond', () => {
    const next = messageIdGenerator(() => 1_700_000_000_000);
    const ids = Array.from({ length: 20_000 }, next);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('message ids keep rising when the clock is set back', () => {
    let now = 1_700_000_000_000;
    const next = messageIdGenerator(() => now);
    const before = next();
    now -= 3_600_000;
    const after = next();
    expect(after > before).toBe(true);
    expect(timeOf(after)).toBe(1_700_000_000_000);
  });

  it('message ids of two generators differ at the same moment', () => {
    const [a, b] = [messageIdGenerator(() => 5), messageIdGenerator(() => 5)];
    const ids = Array.from({ length: 1000 }, () => [a(), b()]).flat();
    expect(new Set(ids).size).toBe(2000);
  });
});
