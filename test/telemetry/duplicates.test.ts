// Duplicates, counted by the real SDK over real calls: a message that is sent again, and delivered again.
import { describe, expect, it } from 'vitest';
import { createWhizbang, inProcessTransport, newMessageId } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { countDuplicates } from '../../src/telemetry/duplicates.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startCounting } from './support/counts.js';
import { book, OrderPlaced } from './support/shop.js';

describe('Duplicates', () => {
  it('a message that is sent again, or delivered again, is counted in the lane that refuses it', async () => {
    using counts = startCounting();
    const counted = () => counts.byLane('whizbang.duplicates');
    await using db = await createTestDatabase();
    const { connectionString } = db;
    await using shop = createWhizbang({
      service: 'shop',
      connectionString,
      logger: silentLogger,
      transport: inProcessTransport(),
      receptors: [book],
    });
    const messageId = newMessageId();
    const send = () => shop.publish(OrderPlaced({ orderId: messageId, failures: 0 }), { messageId });
    await send();
    await send(); // it waits in the outbox still: nothing has started
    expect(await counted()).toEqual({ outbox: 1, inbox: 0 });

    await shop.start();
    const handled = () =>
      db.pool.query('select from wh_message_deduplication where message_id = $1', [messageId]);
    await eventually(async () => expect((await handled()).rowCount).toBe(1));
    await eventually(async () => expect((await db.pool.query('select from wh_outbox')).rowCount).toBe(0));
    await send(); // it has left the outbox: the inbox knows it
    await eventually(async () => expect(await counted()).toEqual({ outbox: 1, inbox: 1 }));
  });

  it('messages with one id in one call are counted beyond the first', () => {
    const [one, two] = [{ messageId: newMessageId() }, { messageId: newMessageId() }];
    const offered = { newInboxMessages: [one, two, one, one], newOutboxMessages: [one] };
    const duplicates = [{ source: 'inbox', messageId: two.messageId }] as const;
    expect(countDuplicates(offered, { duplicates })).toEqual({ outbox: 0, inbox: 3 });
    expect(countDuplicates({}, {})).toEqual({ outbox: 0, inbox: 0 });
  });
});
