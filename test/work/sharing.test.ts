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

describe('A transaction is shared', () => {
  it('with receptors that nothing is known of, and with quick ones', () => {
    expect(paced(0, 0)).toBe(true);
    expect(paced(9, 100)).toBe(true);
  });

  it('with one that was slow once, its first run perhaps', () => {
    expect(paced(60_000, 1)).toBe(true);
  });

  it('not with one that is slow', () => {
    expect(paced(11, 100)).toBe(false);
    expect(paced(100, 3)).toBe(false);
  });

  it('again with one that has become quick', () => {
    const sharing = new Sharing<Queryable>();
    for (let i = 0; i < 10; i++) sharing.took(quick, 100);
    for (let i = 0; i < 20; i++) sharing.took(quick, 1);
    expect(sharing.allows(item, [quick])).toBe(true);
  });

  it('not after it came to nothing, for twenty times as long as that took, and at most a minute', () => {
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
