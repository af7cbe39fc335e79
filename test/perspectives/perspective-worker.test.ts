import { describe, expect, it, vi } from 'vitest';
import type { WorkItem } from '../../src/message.js';
import { type BatchRunner, PerspectiveRegistry, PerspectiveWorker } from '../../src/perspectives/index.js';
import { orders } from './support/orders.js';

const item = { destination: 'orders@1', partitionNumber: 0 } as WorkItem;

function worker() {
  const take = vi.fn(async () => null);
  const made = new PerspectiveWorker({
    registry: new PerspectiveRegistry([orders]),
    instanceId: '00000000-0000-7000-8000-000000000001',
    concurrency: 4,
    runner: { take } as unknown as BatchRunner<unknown>,
    onRoom: () => {},
    audit: { sometimes: async () => false },
    logger: console,
  });
  return { take, made };
}

describe('the worker of perspectives', () => {
  it('a bookmark that is handed out is taken', async () => {
    const { take, made } = worker();
    made.add([item]);
    await made.whenIdle();
    expect(take).toHaveBeenCalledOnce();
  });

  it('a bookmark that is handed out while the instance stops is not taken', async () => {
    const { take, made } = worker();
    made.stopTaking();
    made.add([item]);
    await made.whenIdle();
    expect(take).not.toHaveBeenCalled();
  });
});
