// Many instances at the same time, on real connections, for some seconds (CONCURRENT_SECONDS), over a few streams.
// Judged afterwards: every committed message has its effect exactly once and in order, and nothing is left over.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { type Instance, inbox, it, outbox, type WorkRow } from '../support/work.js';
import { ConcurrentWorker, Log } from './support/concurrent-worker.js';
import { Random } from './support/random.js';
import { checkEvents, checkMechanism, takeSnapshot } from './support/snapshot.js';

const seconds = Number(process.env.CONCURRENT_SECONDS ?? 6);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

it(`eight instances at once keep every promise (SEED=${seed})`, {
  timeout: 180_000 + seconds * 2000,
}, async ({ db, a }) => {
  await db.pool.query(`
    create table effects (id bigint generated always as identity, message_id uuid, lane text, instance_id uuid);
    create table orders (message_id uuid, lane text, stream_id uuid, sequence_order bigint);
    create function note() returns trigger language plpgsql as $$ begin
      insert into public.orders values (new.message_id, tg_argv[0], new.stream_id, new.sequence_order); return null; end $$;
    create trigger note after insert on wh_outbox for each row execute function note('outbox');
    create trigger note after insert on wh_inbox for each row execute function note('inbox');`);
  const random = new Random(seed);
  const log = new Log();
  const streams = Array.from({ length: 5 }, () => random.uuid());
  const end = performance.now() + seconds * 1000;
  // Until enough has happened to be worth judging, leases lost under a handler's feet among it.
  const isOver = () => performance.now() >= end && log.handled > 100 && log.refused > 0;
  const workers = Array.from({ length: 8 }, async () => {
    const own = new Random(random.below(2 ** 32));
    await new ConcurrentWorker(await db.connect(), own, streams, log).workUntil(isOver);
  });
  await Promise.all(workers);
  expect(log.errors).toEqual([]);
  // One in many thousand calls is PostgreSQL's own (test/races/lock-orders.test.ts says why).
  expect(log.deadlocks).toBeLessThan(3);
  await drain(db, a, log);

  const snapshot = await takeSnapshot(db.pool);
  checkEvents(snapshot);
  checkMechanism(snapshot);
  expect(snapshot.messages).toEqual([]);
  expect(snapshot.streams).toEqual([]);
  expect(snapshot.dead).toEqual([]);
  const { rows: effects } = await db.pool.query<Effect>(
    'select e.message_id, e.lane, o.stream_id, o.sequence_order::int from effects e join orders o using (message_id, lane) order by e.id',
  );
  expect(effects.map(({ message_id }) => message_id).sort()).toEqual([...log.committed.keys()].sort());
  expect(overtaken(effects, log)).toEqual([]);
  expect((await db.pool.query('select * from wh_order_violations')).rows).toEqual([]);
});

interface Effect {
  message_id: string;
  lane: string;
  stream_id: string;
  sequence_order: number;
}

/** Pairs of a stream whose effects came in the wrong order, though the earlier was committed before the later was handed out. */
function overtaken(effects: readonly Effect[], log: Log): unknown[] {
  const pairs: unknown[] = [];
  for (const [i, later] of effects.entries()) {
    for (const earlier of effects.slice(i + 1)) {
      const isSameStream = earlier.stream_id === later.stream_id && earlier.lane === later.lane;
      if (!isSameStream || earlier.sequence_order > later.sequence_order) continue;
      const [committed, handedOut] = [
        log.committed.get(earlier.message_id),
        log.handedOut.get(later.message_id),
      ];
      if ((committed ?? 0) < (handedOut ?? 0)) pairs.push({ earlier, later });
    }
  }
  return pairs;
}

/** Everything that the workers left comes to one newcomer as leases and schedules run out. */
async function drain(db: TestDatabase, newcomer: Instance, log: Log): Promise<void> {
  for (const end = performance.now() + 120_000; performance.now() < end; ) {
    const sentAt = performance.now();
    const items = await newcomer.call({ p_takeover_seconds: 0, p_lease_seconds: 60 });
    for (const { message_id } of items) log.handedOut.set(message_id, sentAt);
    for (const item of items)
      await db.pool.query('insert into effects (message_id, lane) values ($1, $2)', [
        item.message_id,
        item.source,
      ]);
    const of = (source: string) => items.filter((item: WorkRow) => item.source === source);
    const lost = await newcomer.call(outbox.completes(of('outbox')), inbox.completes(of('inbox')), {
      p_max_outbox_items: 0,
      p_max_inbox_items: 0,
    });
    expect(lost).toEqual([]);
    if ((await outbox.rows(db)).length + (await inbox.rows(db)).length === 0) return;
    if (items.length === 0) await sleep(20);
  }
}
