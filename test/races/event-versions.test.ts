// Events appended to one stream by many at once: versions neither collide nor skip, and no event is dropped.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  Instance,
  ids,
  inbox,
  it,
  lanes,
  message,
  type NewMessage,
  outbox,
  stream,
} from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

const instances = (db: TestDatabase, count: number) =>
  Array.from(
    { length: count },
    (_, i) => new Instance(`0190bbbb-0000-7000-8000-0000000000${10 + i}`, db.pool),
  );

async function versions(db: TestDatabase): Promise<{ event_id: string; version: number }[]> {
  const { rows } = await db.pool.query('select event_id, version::int from wh_event_store order by version');
  return rows;
}

/** Admits and finishes all that is left. */
async function drain(db: TestDatabase, by: Instance): Promise<void> {
  for (let calls = 0; calls < 500; calls++) {
    const items = await by.call(takeover);
    const of = (source: string) => items.filter((item) => item.source === source);
    await by.call(outbox.completes(of('outbox')), inbox.completes(of('inbox')), noRoom);
    if ((await outbox.rows(db)).length + (await inbox.rows(db)).length === 0) return;
  }
  throw new Error('It is not empty after 500 calls.');
}

const code = (error: unknown) => (error as { code?: string }).code;

describe.each(lanes)('Events of the $source', (lane) => {
  it('events of sixteen sessions on one stream get versions without a gap', async ({ db, a }) => {
    const stream_id = randomUUID();
    const sent = instances(db, 16).flatMap((each) =>
      Array.from({ length: 10 }, () => ({ each, event: message({ stream_id, is_event: true }) })),
    );
    const calls = new Map<Instance, NewMessage[]>();
    for (const { each, event } of sent) calls.set(each, [...(calls.get(each) ?? []), event]);
    await Promise.all(
      [...calls].map(async ([each, events]) => {
        for (const event of events) {
          const items = await each.call(lane.stores(event), lane.room(20));
          await each.call(lane.completes(items), noRoom);
        }
      }),
    );
    await drain(db, a);
    const appended = await versions(db);
    expect(appended.map(({ version }) => version)).toEqual(Array.from({ length: 160 }, (_, i) => i + 1));
    expect(appended.map(({ event_id }) => event_id).sort()).toEqual(
      sent.map(({ event }) => event.message_id).sort(),
    );
  });

  it('exactly one of sixteen events with the same expected version is appended', async ({ db }) => {
    const stream_id = randomUUID();
    for (let expected_version = 0; expected_version < 3; expected_version++) {
      const results = await Promise.allSettled(
        instances(db, 16).map((each) =>
          each.call(lane.stores(message({ stream_id, is_event: true, expected_version })), noRoom),
        ),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused.map(({ reason }) => code(reason))).toEqual(Array(15).fill('WB002'));
      expect(await versions(db)).toHaveLength(expected_version + 1);
    }
    expect(await lane.rows(db)).toHaveLength(3);
  });

  it('an event with an expected version waits for an open append, and is judged by its end', async ({
    db,
    a,
    b,
  }) => {
    for (const [end, outcome] of [
      ['rollback', 'fulfilled'],
      ['commit', 'rejected'],
    ] as const) {
      const stream_id = randomUUID();
      const [first, second] = [await begin(db), await openSession(db)];
      await a
        .over(first.client)
        .call(lane.stores(message({ stream_id, is_event: true, expected_version: 0 })), noRoom);
      const waiting = Promise.allSettled([
        b
          .over(second.client)
          .call(lane.stores(message({ stream_id, is_event: true, expected_version: 0 })), noRoom),
      ]);
      expect(await waitUntilBlocked(db, second.pid)).toEqual([first.pid]);
      await first.query(end);
      expect((await waiting)[0]?.status).toBe(outcome);
    }
  });
});

it('sixteen sessions over both lanes, plain inserts and expected versions lose no event', async ({
  db,
  a,
}) => {
  const streamIds = Array.from({ length: 4 }, () => randomUUID());
  const accepted: string[] = [];
  const unexpected: unknown[] = [];
  await Promise.all(
    instances(db, 16).map(async (each, n) => {
      for (let turn = 0; turn < 12; turn++) {
        const stream_id = streamIds[(n + turn) % 4] as string;
        const events = stream(2, { stream_id, is_event: true });
        if (n % 4 === 0) {
          for (const event of events) {
            await db.pool.query(
              `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
               values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, true)`,
              [event.message_id, stream_id],
            );
          }
          accepted.push(...ids(events));
          continue;
        }
        const lane = lanes[turn % 2] as (typeof lanes)[number];
        const expected = n % 4 === 1 ? { expected_version: turn } : {};
        try {
          const items = await each.call(
            lane.stores({ ...(events[0] as NewMessage), ...expected }, events[1] as NewMessage),
            takeover,
          );
          accepted.push(...ids(events));
          const mine = (source: string) => items.filter((item) => item.source === source);
          await each.call(outbox.completes(mine('outbox')), inbox.completes(mine('inbox')), noRoom);
        } catch (error) {
          if (code(error) !== 'WB002') unexpected.push(error);
        }
      }
    }),
  );
  expect(unexpected).toEqual([]);
  await drain(db, a);
  const { rows } = await db.pool.query(
    'select count(*)::int as events, max(version)::int as last from wh_event_store group by stream_id',
  );
  expect(rows.every(({ events, last }) => events === last)).toBe(true);
  expect((await versions(db)).map(({ event_id }) => event_id).sort()).toEqual(accepted.sort());
});
