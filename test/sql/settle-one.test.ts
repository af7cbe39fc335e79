// A handler that completes its one message in its own transaction takes a short way through the function. Whatever the stream
// looks like, it leaves what the long way leaves. The long way is taken for the same id in capitals.
import type pg from 'pg';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  expireLeases,
  Flags,
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  message,
  type NewMessage,
  outbox,
  type Parameters,
  stream,
  type WorkRow,
} from '../support/work.js';

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0, p_max_perspective_items: 0 };
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

interface Situation {
  readonly lane: Lane;
  readonly a: Instance;
  readonly b: Instance;
  readonly db: TestDatabase;
}

/** Each makes a situation and says which message a completes in it. */
const held: Record<string, (situation: Situation) => Promise<NewMessage | undefined>> = {
  'the only one of its stream': async ({ lane, a }) => first(await a.call(lane.stores(...stream(1)))),
  'one without a stream': async ({ lane, a }) => first(await a.call(lane.stores(message()))),
  'the first of those it holds': async ({ lane, a }) => first(await a.call(lane.stores(...stream(3)))),
  'the last of those it holds': async ({ lane, a }) => (await a.call(lane.stores(...stream(3)))).at(-1),
  'one before others that wait': async ({ lane, a }) =>
    first(await a.call(lane.stores(...stream(3)), lane.room(1))),
  'one before another that is scheduled': async ({ lane, a }) => {
    const [now, later] = stream(2) as [NewMessage, NewMessage];
    return first(await a.call(lane.stores(now, { ...later, scheduled_for: inAnHour() })));
  },
  'one before another that was inserted plainly': async ({ lane, a, db }) => {
    const [now, later] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(now));
    await lane.insertPlain(db.pool, later);
    return now;
  },
  'one after another that took its number early and was committed late': async ({ lane, a, db }) => {
    const [early, late] = stream(2) as [NewMessage, NewMessage];
    const writer = await db.connect();
    await writer.query('begin');
    await lane.insertPlain(writer, early);
    await lane.insertPlain(db.pool, late);
    await a.call();
    await writer.query('commit');
    return late;
  },
  'one whose lease has run out, as have those behind it': async ({ lane, a, db }) => {
    const work = await a.call(lane.stores(...stream(3)));
    await expireLeases(db, a);
    return first(work);
  },
  'one before another whose lease has run out': async ({ lane, a, db }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await db.pool.query(
      `update ${lane.table} set lease_expiry = clock_timestamp() where message_id = $1`,
      ids(work.slice(1)),
    );
    return first(work);
  },
};

const notHeld: typeof held = {
  'one that another instance has taken over': async ({ lane, a, b, db }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await expireLeases(db, a);
    await b.call();
    return first(work);
  },
  'one that is done': async ({ lane, a }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await a.call(lane.completes(work.slice(0, 1)), noRoom);
    return first(work);
  },
  'one that waits': async ({ lane, a }) => {
    const [waiting] = stream(1) as [NewMessage];
    await a.call(lane.stores(waiting), noRoom);
    return waiting;
  },
  'one that nobody knows': async () => message(),
};

const first = (items: readonly WorkRow[]) => items[0];

const tables = (lane: Lane) => [
  `select message_id, destination, event_type, event_data, metadata, scope, stream_id, partition_number, is_event, status, flags,
     scheduled_for, instance_id, row_number() over (order by sequence_order) as place from wh_outbox`,
  'select event_id, stream_id, version, event_type, event_data from wh_event_store',
  `select message_id, status, flags, attempts, instance_id, lease_expiry, partition_number, processed_at from ${lane.table}`,
  `select stream_id, lane, instance_id, lease_expiry, held_through, waits_for,
     (select count(*) from ${lane.table} m where m.sequence_order < s.head) as below_head,
     available_at > clock_timestamp() + interval '1 minute' as waits, available_at > transaction_timestamp() as is_new
   from wh_active_streams s`,
  'select event_id, receptor_name, status, attempts, error from wh_receptor_processing',
];

interface Answer {
  readonly rows: WorkRow[];
  readonly left: unknown[][];
  readonly isShort: boolean;
}

/** Calls in a transaction, looks what it has left, and undoes it. */
async function tried(client: pg.Client, lane: Lane, a: Instance, ...parts: Parameters[]): Promise<Answer> {
  await client.query("begin; set local track_functions = 'all'");
  const before = await longCalls(client);
  const rows = await a.over(client).call(...parts, noRoom);
  const left: unknown[][] = [];
  for (const table of tables(lane)) left.push((await client.query(`${table} order by 1, 2`)).rows);
  const isShort = (await longCalls(client)) === before;
  await client.query('rollback');
  return { rows: rows.map((row) => ({ ...row, sequence_order: 0 })), left, isShort };
}

/** How many calls of this session have gone on to the steps of the long way. */
async function longCalls(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(sum(calls), 0)::int as calls from pg_stat_xact_user_functions where funcname = 'wh_open_call'`,
  );
  return rows[0].calls;
}

const capitals = (item: NewMessage) => [{ ...item, message_id: item.message_id.toUpperCase() }];

describe.each(lanes)('Completions in the transaction of a handler in the %s', (lane) => {
  it.for(Object.entries(held))(
    'the short way ends like the long way for a completion of %s',
    async ([, make], { db, a, b }) => {
      const item = (await make({ lane, a, b, db })) as NewMessage;
      const client = await db.connect();
      const receptor = {
        p_receptor_completions: [{ event_id: item.message_id, receptor_name: 'r', status: 8 }],
      };
      const sends = (...messages: NewMessage[]) => [outbox.stores(...messages)];
      const into = { stream_id: item.stream_id ?? null };
      for (const more of [
        [],
        [receptor],
        sends(message()),
        sends(message(into), message({ scheduled_for: inAnHour() }), message(into), message(into)),
        sends(...stream(2, { is_event: true }), message()),
        [...sends(message({ ...into, message_id: item.message_id })), receptor],
      ]) {
        const short = await tried(client, lane, a, lane.completes([item]), ...more);
        const long = await tried(client, lane, a, lane.completes(capitals(item)), ...more);
        expect(short).toEqual({ ...long, isShort: true });
        expect(long).toMatchObject({ rows: [], isShort: false });
      }
    },
  );

  it.for(Object.entries(notHeld))('a completion of %s comes back as lost', async ([, make], { db, a, b }) => {
    const item = (await make({ lane, a, b, db })) as NewMessage;
    const client = await db.connect();
    const short = await tried(client, lane, a, lane.completes([item]));
    expect(short).toEqual(await tried(client, lane, a, lane.completes(capitals(item))));
    expect(short.rows).toMatchObject([
      { source: lane.source, message_id: item.message_id, flags: Flags.LeaseLost },
    ]);
  });

  it('a call that does more or less than complete one message takes the long way', async ({ db, a }) => {
    const [one, two] = (await a.call(lane.stores(...stream(2)))) as [WorkRow, WorkRow];
    const client = await db.connect();
    for (const parts of [
      [lane.completes([one, two])],
      [lane.completes([one, one])],
      [lane.completes([one], lane.partly)],
      [lane.completes([one], 0)],
      [lane.completes([one]), lane.renews([two])],
      [lane.completes([one]), lane.fails([two])],
      [lane.completes([one]), { p_flags: Flags.DebugMode }],
    ]) {
      expect((await tried(client, lane, a, ...parts)).isShort).toBe(false);
    }
  });
});
