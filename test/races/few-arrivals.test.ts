// A call that only asks has found a few messages and leases them on the short path, while others open the stream, commit
// late, delete, take or append: nothing is overtaken, handed out twice or left behind.
import type pg from 'pg';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  Flags,
  type Instance,
  ids,
  inbox,
  it,
  lanes,
  message,
  type NewMessage,
  reachSchedule,
  stream,
} from '../support/work.js';
import { begin, noRoom } from './transactions.js';

const spare = { p_spare_outbox_streams: 10, p_spare_inbox_streams: 10 };
const event = { is_event: true };

describe.each(lanes)('A call that waits to open a stream of the %s', (lane) => {
  /** Another transaction has opened the stream, and the call has found these messages there and waits for it. */
  async function waiting(db: TestDatabase, by: Instance, open: (opener: pg.Client) => Promise<unknown>) {
    const [opener, asker] = [await begin(db), await openSession(db)];
    await open(opener.client);
    const asked = by.over(asker.client).call(spare);
    expect(await waitUntilBlocked(db, asker.pid)).toEqual([opener.pid]);
    return { opener, asked };
  }
  const opens = (of: NewMessage) => (opener: pg.Client) =>
    opener.query(
      `insert into wh_active_streams (stream_id, lane, partition_number, available_at, head, held_through)
       values ($1, $2, 0, clock_timestamp(), 0, 0)`,
      [of.stream_id, lane.source],
    );
  const streamRows = async (db: TestDatabase) =>
    (await db.pool.query('select stream_id, instance_id from wh_active_streams')).rows;
  const pair = () => stream(2) as [NewMessage, NewMessage];

  it('an earlier message of the stream that commits meanwhile is handed out first', async ({ db, a }) => {
    const [early, late] = pair();
    const writer = await begin(db);
    await lane.insertPlain(writer.client, early);
    await lane.insertPlain(db.pool, late);
    const { opener, asked } = await waiting(db, a, opens(late));
    await writer.query('commit');
    await opener.query('rollback');
    expect(ids(await asked)).toEqual(ids([early, late]));
  });

  it('a message that is deleted meanwhile is not handed out, and its stream is not left open', async ({
    db,
    a,
  }) => {
    const [gone] = pair();
    await lane.insertPlain(db.pool, gone);
    const { opener, asked } = await waiting(db, a, opens(gone));
    await db.pool.query(`delete from ${lane.table}`);
    await opener.query('rollback');
    expect(await asked).toEqual([]);
    expect(await streamRows(db)).toEqual([]);
  });

  it('a message that is taken back meanwhile is not handed out, but the one behind it is', async ({
    db,
    a,
  }) => {
    const [gone, next] = pair();
    await lane.insertPlain(db.pool, gone, next);
    const { opener, asked } = await waiting(db, a, (client) =>
      client.query('select wh_cancel_message($1)', [gone.message_id]),
    );
    await opener.query('commit');
    expect([...ids(await asked), ...ids(await a.call(spare))]).toEqual([next.message_id]);
  });

  it('a message that another call has leased meanwhile is not handed out twice', async ({ db, a, b }) => {
    const [first] = pair();
    await lane.insertPlain(db.pool, first);
    const { opener, asked } = await waiting(db, a, async (client) =>
      expect(ids(await b.over(client).call(spare))).toEqual([first.message_id]),
    );
    await opener.query('commit');
    expect(await asked).toEqual([]);
    expect(await streamRows(db)).toEqual([{ stream_id: first.stream_id, instance_id: b.id }]);
    expect(await lane.rows(db)).toMatchObject([{ message_id: first.message_id, instance_id: b.id }]);
  });

  it.for([Flags.None, Flags.DebugMode])(
    'a message that another call has finished meanwhile, with flags %i, is not handed out again',
    async (p_flags, { db, a, b }) => {
      const [first] = pair();
      await lane.insertPlain(db.pool, first);
      const { opener, asked } = await waiting(db, a, async (client) =>
        b.over(client).call(lane.completes(await b.over(client).call(spare)), { ...noRoom, p_flags }),
      );
      await opener.query('commit');
      expect(await asked).toEqual([]);
      expect(await streamRows(db)).toEqual([]);
    },
  );
});

describe('A call that finds an event while another transaction has the version of its stream', () => {
  it.for([
    ['makes', 'insert into wh_event_streams (stream_id, version) values ($1, 0)', []],
    ['has', 'select from wh_event_streams where stream_id = $1 for no key update', [0]],
  ] as const)(
    'an event is not handed out while a transaction %s its version row, and others are',
    async ([, takes, versions], { db, a }) => {
      const [mine, free] = [stream(1, event), stream(1, event)] as [[NewMessage], [NewMessage]];
      for (const version of versions)
        await db.pool.query('insert into wh_event_streams values ($1, $2)', [mine[0].stream_id, version]);
      await inbox.insertPlain(db.pool, ...mine, ...free);
      const owner = await begin(db);
      await owner.query(takes, [mine[0].stream_id]);
      const appended = async () =>
        (await db.pool.query('select event_id from wh_event_store order by sequence_number')).rows;
      expect(ids(await a.call(spare))).toEqual(ids(free));
      expect(await appended()).toEqual([{ event_id: free[0].message_id }]);
      await owner.query('rollback');
      await reachSchedule(db);
      expect(ids(await a.call(spare))).toEqual(ids(mine));
      expect(await appended()).toEqual([{ event_id: free[0].message_id }, { event_id: mine[0].message_id }]);
    },
  );
});

describe('A call that also says what is written before streams are opened', () => {
  const [first, next] = stream(2) as [NewMessage, NewMessage];
  const timer = { ...message({ scheduled_for: '2100-01-01T00:00:00Z' }), destination: 'orders' };
  const perspective = { stream_id: first.stream_id, perspective_name: 'p', status: 1 };
  const receptor = { event_id: first.message_id, receptor_name: 'r', status: 1 };
  it.for([
    ['a timer', { p_new_timers: [timer] }],
    ['a perspective', { p_perspective_completions: [perspective] }],
    ['a receptor', { p_receptor_completions: [receptor] }],
  ] as const)(
    'a call with %s and one that stores in the same stream do not wait for each other',
    async ([, said], { db, a, b }) => {
      await a.call();
      await b.call();
      await inbox.insertPlain(db.pool, first);
      const other = await begin(db);
      await other.query('insert into wh_message_deduplication (message_id) values ($1)', [next.message_id]);
      const [storer, asker] = [await openSession(db), await openSession(db)];
      const stored = b.over(storer.client).call(said, inbox.stores(next), spare);
      await waitUntilBlocked(db, storer.pid);
      const asked = a.over(asker.client).call(said, spare);
      expect(await waitUntilBlocked(db, asker.pid)).toEqual([storer.pid]);
      await other.query('rollback');
      expect([...(await stored), ...(await asked)].length).toBeLessThanOrEqual(2);
    },
  );
});
