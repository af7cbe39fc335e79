// Calls that take the same locks from opposite ends. Waiting is allowed, a deadlock (40P01) is not.
import { describe, expect } from 'vitest';
import { Random } from '../properties/support/random.js';
import { checkEvents, checkMechanism, takeSnapshot } from '../properties/support/snapshot.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  Flags,
  Instance,
  inbox,
  it,
  lanes,
  message,
  outbox,
  type Parameters,
  type WorkRow,
} from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

const low = '00000000-0000-4000-8000-000000000001';
const high = 'ffffffff-0000-4000-8000-000000000001';
/**
 * What remains is PostgreSQL's: `skip locked` waits after all when a row's updater commits between the look at the row and
 * the try of its lock, and the next version is locked already (docs/internals/lock-order.md). Seen about once in 20 000
 * calls of this test; an order that is wrong shows itself several times in each run.
 */
const mostDeadlocks = 2;

const isLost = ({ flags }: WorkRow) => (flags & Flags.LeaseLost) !== 0;

// One transaction with two calls does what one call does in the same order, with a pause that a test can use.
describe.each(lanes)('in the $source', (lane) => {
  it('a renewal with a new stream does not deadlock with a call that opens both streams', async ({
    db,
    a,
    b,
  }) => {
    const held = await a.call(lane.stores(message({ stream_id: high })));
    await b.call();
    const [first, second] = [await begin(db), await openSession(db)];
    await a.over(first.client).call(lane.renews(held), noRoom);
    const storing = b
      .over(second.client)
      .call(lane.stores(message({ stream_id: low }), message({ stream_id: high })));
    await Promise.race([storing, waitUntilBlocked(db, second.pid).catch(() => undefined)]);
    await a.over(first.client).call(lane.stores(message({ stream_id: low })));
    await first.query('commit');
    await storing;
    expect(await lane.rows(db)).toHaveLength(4);
  });

  it('a completion with a new stream does not deadlock with a call that is sent again', async ({
    db,
    a,
    b,
  }) => {
    const sent = [message({ stream_id: high }), message({ stream_id: low })];
    await a.call(lane.completes((await a.call(lane.stores(...sent))).slice(1)), noRoom);
    await b.call();
    const [first, second] = [await begin(db), await openSession(db)];
    await a.over(first.client).call(lane.completes(sent.slice(0, 1)), noRoom);
    const storing = b.over(second.client).call(lane.stores(...sent));
    await Promise.race([storing, waitUntilBlocked(db, second.pid).catch(() => undefined)]);
    await a.over(first.client).call(lane.stores(message({ stream_id: low })));
    await first.query('commit');
    await storing;
  });
});

it('2000 calls over six streams in all orders lose nothing and deadlock at most twice', async ({ db, a }) => {
  const streamIds = Array.from({ length: 6 }, (_, i) => new Random(i).uuid());
  const stored = new Set<string>();
  const completed: string[] = [];
  const recent: { source: string; sent: ReturnType<typeof message> }[] = [];

  let deadlocks = 0;
  const untilNoDeadlock = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if ((error as { code?: string }).code !== '40P01' || ++deadlocks > mostDeadlocks) throw error;
      }
    }
  };

  const work = async (n: number) => {
    const random = new Random(n);
    const { client } = await openSession(db);
    const self = new Instance(random.uuid(), client, takeover);
    let held: WorkRow[] = [];
    for (let calls = 0; calls < 250; calls++) {
      const parts: Parameters[] = [];
      const done = random.some(held, 0.6);
      held = held.filter((row) => !done.includes(row));
      for (const lane of lanes) {
        const of = (rows: WorkRow[]) => rows.filter(({ source }) => source === lane.source);
        const sent = Array.from({ length: random.below(4) }, () =>
          message({
            message_id: random.uuid(),
            stream_id: random.pick(streamIds),
            is_event: random.chance(0.3),
          }),
        );
        for (const each of sent) stored.add(`${lane.source} ${each.message_id}`);
        // Another instance sent these a moment ago: they may be waiting, leased, being completed, or done.
        const again = recent
          .filter(({ source }) => source === lane.source && random.chance(0.1))
          .map(({ sent: each }) => each);
        recent.push(...sent.map((each) => ({ source: lane.source, sent: each })));
        if (recent.length > 20) recent.splice(0, recent.length - 20);
        if (lane === inbox) sent.push(...again);
        const room = lane.room(random.pick([0, 1, 5, 20]));
        parts.push(
          lane.completes(of(done)),
          lane.renews(random.chance(0.5) ? of(held) : []),
          lane.stores(...sent),
          room,
        );
      }
      const rows = await untilNoDeadlock(() => self.call(...parts));
      expect(rows.filter(isLost)).toEqual([]);
      completed.push(...done.map(({ source, message_id }) => `${source} ${message_id}`));
      held.push(...rows);
    }
    const rest = (source: string) => held.filter((row) => row.source === source);
    await self.call(outbox.releases(rest('outbox')), inbox.releases(rest('inbox')), noRoom);
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => work(n)));

  for (let calls = 0; calls < 500; calls++) {
    const items = await a.call(takeover);
    const of = (source: string) => items.filter((row) => row.source === source);
    await a.call(outbox.completes(of('outbox')), inbox.completes(of('inbox')), noRoom);
    completed.push(...items.map(({ source, message_id }) => `${source} ${message_id}`));
    if ((await outbox.rows(db)).length + (await inbox.rows(db)).length === 0) break;
  }
  expect(completed.sort()).toEqual([...stored].sort());
  const snapshot = await takeSnapshot(db.pool);
  checkEvents(snapshot);
  checkMechanism(snapshot);
  expect(snapshot.streams).toEqual([]);
});
