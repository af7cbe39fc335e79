import { describe, expect, it, vi } from 'vitest';
import type { TakenBookmark } from '../../src/coordinator/index.js';
import { WhizbangError } from '../../src/errors.js';
import type { Logger } from '../../src/logger.js';
import type { WorkItem } from '../../src/message.js';
import { type BatchRunner, PerspectiveRegistry, PerspectiveWorker } from '../../src/perspectives/index.js';
import { orders } from './support/orders.js';

const item = { destination: 'orders@1', partitionNumber: 0, eventData: {} } as WorkItem;

function worker(parts: object = {}, logger: Logger = console) {
  const take = vi.fn(async () => null);
  const made = new PerspectiveWorker({
    registry: new PerspectiveRegistry([orders]),
    instanceId: '00000000-0000-7000-8000-000000000001',
    concurrency: 4,
    runner: { take, ...parts } as unknown as BatchRunner<unknown>,
    onRoom: () => {},
    audit: { sometimes: async () => false },
    logger,
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

  it('a build that is dropped under a batch is told in plain words, once, and as no error', async () => {
    const said: [level: string, text: string][] = [];
    const say = (level: string) => (_: object, text: string) => void said.push([level, text]);
    const logger = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
    const bookmark = { next: { mode: 'log', events: [] } } as unknown as TakenBookmark;
    const noteFailure = vi.fn(async () => {});
    const take = vi.fn(async (): Promise<TakenBookmark | null> => null).mockResolvedValueOnce(bookmark);
    const run = async () => {
      throw new WhizbangError('NOT_MIGRATED', { message: 'relation "orders_v1_2" does not exist' });
    };
    const { made } = worker({ take, run, noteFailure }, logger);
    made.add([item]);
    await made.whenIdle();
    expect(said).toEqual([['info', 'Its build was dropped while a batch of it ran; nothing is left to do']]);
    expect(noteFailure).not.toHaveBeenCalled();
  });
});
