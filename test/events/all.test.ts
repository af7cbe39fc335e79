import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, type LoggedEvent } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPaid, paid, placed } from './shop.js';

async function read(events: AsyncIterable<LoggedEvent>): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('events.all', () => {
  it('the events of all streams are read in the order of their streams, page by page', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    for (let i = 0; i < 12; i++) {
      await shop.events.append(Array.from({ length: 100 }, (_, k) => placed(`s${k % 7}`, i * 100 + k)));
    }
    const found = await read(shop.events.all());
    expect(found).toHaveLength(1_200);
    const seen = new Map<string, number>();
    for (const { streamId, version } of found) {
      expect(version).toBe((seen.get(streamId) ?? 0) + 1);
      seen.set(streamId, version);
    }
  });

  it('a reader goes on behind a position and gets what was appended since', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), placed('b')]);
    const first = await read(shop.events.all());
    expect(await read(shop.events.all({ after: first.at(-1)?.position }))).toEqual([]);
    await shop.events.append(paid('a'));
    const second = await read(shop.events.all({ after: first.at(-1)?.position }));
    expect(second).toMatchObject([{ type: 'OrderPaid', version: 2 }]);
    expect(await read(shop.events.all({ after: first[0]?.position }))).toHaveLength(2);
  });

  it('a reader of some events gets them, also under an earlier name', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const OrderSettled = defineEvent('OrderSettled', {
      schema: z.object({ orderId: z.string(), cents: z.number(), paidAt: z.string() }),
      stream: ({ orderId }) => orderId,
    });
    await shop.events.append([
      placed('a'),
      OrderSettled({ orderId: 'a', cents: 1, paidAt: '2026-01-01' }),
      paid('b'),
    ]);
    const found = await read(shop.events.all({ events: [OrderPaid] }));
    expect(found.map((event) => event.is(OrderPaid) && event.payload.cents)).toEqual([1, 100]);
  });

  it('an open transaction delays its own events and no others', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const client = await db.connect();
    await client.query('begin');
    await shop.events.append(placed('slow'), { tx: client });
    await shop.events.append(placed('quick'));
    const first = await read(shop.events.all());
    expect(first).toHaveLength(1);
    await client.query('commit');
    const second = await read(shop.events.all({ after: first[0]?.position }));
    expect(second.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1]);
  });

  it('a follower gets what is appended while it waits, and ends when its signal is aborted', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const abort = new AbortController();
    const found: LoggedEvent[] = [];
    const following = (async () => {
      for await (const event of shop.events.all({ follow: true, signal: abort.signal })) found.push(event);
    })();
    for (let i = 1; i <= 3; i++) {
      await shop.events.append(placed('a', i));
      await eventually(() => expect(found).toHaveLength(i));
    }
    abort.abort();
    await following;
  });

  it.each([
    ['after', { after: 'nowhere' }],
    ['events', { events: ['OrderPaid'] }],
    ['from', { from: 1 }],
  ])('a reader with a wrong option %s is refused', async (option, options) => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(read(shop.events.all(options as never))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option },
    });
  });
});
