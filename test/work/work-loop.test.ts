import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import type { WorkBatch } from '../../src/message.js';
import type { WorkCoordinatorStrategy } from '../../src/strategies/index.js';
import type { Lane } from '../../src/work/lane.js';
import { LeaseClock } from '../../src/work/leases/lease-clock.js';
import { WorkLoop } from '../../src/work/loop/work-loop.js';

const nothing: WorkBatch = { outbox: [], inbox: [], perspectives: [], leaseLost: [] };

/** Holds nothing, and could take ten. */
const emptyLane = (source: Lane['source']) =>
  ({
    source,
    leases: new LeaseClock({ leaseSeconds: 15, marginSeconds: 2 }),
    room: () => 10,
    spare: () => 10,
    wantsMore: () => true,
    heldCount: 0,
  }) as unknown as Lane;

/** A loop in which no time passes, so that it never polls. It gets the batches in turn, and nothing after the last. */
function loopThatGets(...batches: WorkBatch[]) {
  const heard: string[] = [];
  let calls = 0;
  const loop = new WorkLoop({
    strategy: {
      flush: async () => {
        calls++;
        loop.room();
        const batch = batches.shift() ?? nothing;
        loop.take(batch, performance.now());
        return batch;
      },
    } as unknown as WorkCoordinatorStrategy,
    lanes: [emptyLane('outbox'), emptyLane('inbox')],
    listener: undefined,
    pollIntervalMs: 60_000,
    renewSeconds: 5,
    logger: silentLogger,
    onReachable: () => {},
    onLeaseLost: () => {},
    onIdle: (isIdle) => heard.push(isIdle ? 'idle' : 'active'),
  });
  return { loop, heard, calls: () => calls };
}

describe('A loop whose call could only put things in order', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a loop looks again at once after a call that only put things in order', async () => {
    const { loop, calls } = loopThatGets({ ...nothing, looksAgain: true }, { ...nothing, looksAgain: true });
    loop.start();
    await turn();
    expect(calls()).toBe(3);
  });
});
