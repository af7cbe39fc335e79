// A service that nobody runs: what is sent to it waits for its retry, and more and more arrives behind it. What a service sends to
// itself meanwhile is none of its business.
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineEvent, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { instance, outbox, streams } from '../support/work.js';

const Noted = defineEvent('Noted', { schema: z.object({ number: z.number() }) });

/** So many streams of the outbox whose first message waits for its retry. */
async function blockStreams(db: TestDatabase, count: number): Promise<string[]> {
  const sender = instance(db, 'a');
  const blocked: string[] = [];
  while (blocked.length < count) {
    const heads = await sender.call(outbox.stores(...streams(1000)));
    await sender.call(outbox.fails(heads, { retry_after_seconds: 3600 }), outbox.room(0));
    blocked.push(...heads.map(({ stream_id }) => stream_id as string));
  }
  await db.pool.query('select deregister_instance($1)', [sender.id]);
  return blocked;
}

async function arriveIn(db: TestDatabase, streamIds: readonly string[]): Promise<void> {
  await db.pool.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id)
     select gen_random_uuid(), 'nobody', 'shop.Charge', '{}', s from unnest($1::uuid[]) s`,
    [streamIds],
  );
}

it.for([
  { listen: true, how: 'by notifications' },
  { listen: false, how: 'by polling' },
])(
  'an instance woken $how handles its own events beside 10 000 blocked streams that grow',
  async ({ listen }) => {
    await using db = await createTestDatabase();
    const blocked = await blockStreams(db, 10_000);
    const handled: number[] = [];
    await using service = createWhizbang({
      service: 'shop',
      connectionString: db.connectionString,
      logger: silentLogger,
      listen,
      receptors: [receptor(Noted, async ({ number }) => void handled.push(number))],
    });
    await service.start();
    const application = await db.connect();
    await arriveIn(db, blocked);
    for (let number = 1; number <= 10; number++) {
      await arriveIn(db, blocked.slice(0, 100));
      await application.query('begin');
      await service.publish(Noted({ number }), { tx: application });
      await application.query('commit');
      // Each one alone: on the first the instance has fallen asleep before, and must not sleep over the others.
      await eventually(async () => expect(handled.at(-1)).toBe(number), 20_000);
    }
    const { rows } = await db.pool.query('select count(*)::int as waiting from wh_outbox');
    expect(rows[0].waiting).toBe(21_000);
  },
);
