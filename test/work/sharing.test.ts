import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { WorkItem } from '../../src/coordination.js';
import type { Queryable } from '../../src/database/index.js';
import { defineEvent, type Receptor, receptor } from '../../src/index.js';
import { Sharing } from '../../src/work/handle/sharing.js';

const Event = defineEvent('Event', { schema: z.object({}) });
const quick = receptor(Event, () => {});
const item = { attempts: 0, flags: 0 } as WorkItem;

function paced(milliseconds: number, times: number, each: Receptor = quick) {
  const sharing = new Sharing<Queryable>();
  for (let i = 0; i < times; i++) sharing.took(each, milliseconds);
  return sharing.allows(item, [each]);
}

describe('Receptors that share a transaction', () => {
  it('a receptor that has not run yet, or is quick, shares a transaction', () => {
    expect(paced(0, 0)).toBe(true);
    expect(paced(9, 100)).toBe(true);
  });

  it('a receptor that was slow once shares a transaction', () => {
    expect(paced(60_000, 1)).toBe(true);
  });

  it('a slow receptor does not share a transaction', () => {
    expect(paced(11, 100)).toBe(false);
    expect(paced(100, 3)).toBe(false);
  });

  it('a receptor that has become quick shares a transaction again', () => {
    const sharing = new Sharing<Queryable>();
    for (let i = 0; i < 10; i++) sharing.took(quick, 100);
    for (let i = 0; i < 20; i++) sharing.took(quick, 1);
    expect(sharing.allows(item, [quick])).toBe(true);
  });

  it('a receptor shares a transaction while it takes no longer than two commits', () => {
    const sharing = new Sharing<Queryable>();
    for (let i = 0; i < 100; i++) sharing.took(quick, 24);
    expect(sharing.allows(item, [quick])).toBe(false);
    for (let i = 0; i < 100; i++) sharing.committed(15);
    expect(sharing.allows(item, [quick])).toBe(true);
    for (let i = 0; i < 100; i++) sharing.committed(3);
    expect(sharing.allows(item, [quick])).toBe(false);
  });

  it('a failed shared transaction is followed by a pause of twenty times its length, at most a minute', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    try {
      const sharing = new Sharing<Queryable>();
      const isAllowedAt = (time: number) => {
        now.mockReturnValue(time);
        return sharing.allows(item, [quick]);
      };
      sharing.failed([quick], 5);
      expect([isAllowedAt(1_099), isAllowedAt(1_100)]).toEqual([false, true]);
      sharing.failed([quick], 10_000);
      expect([isAllowedAt(61_099), isAllowedAt(61_100)]).toEqual([false, true]);
    } finally {
      now.mockRestore();
    }
  });
});
