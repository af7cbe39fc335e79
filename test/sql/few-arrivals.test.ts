// The short path of a call that only asks and finds a few plainly inserted messages that it can begin at once: it hands
// out and leaves in the tables what the long path does. What meets it on its way: test/races/few-arrivals.test.ts.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { noRoom } from '../races/transactions.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import * as work from '../support/work.js';
import { ids, inbox, it, lanes, message, type NewMessage, stream, streams } from '../support/work.js';

const spare = { p_spare_outbox_streams: 10, p_spare_inbox_streams: 10 };
const event = { is_event: true };
const forHandlers = (...names: string[]) =>
  names.map((handler_name) => ({ ...message(), handler_name }) as NewMessage);
const [known, held, appended, older] = [stream(5, event), stream(2), stream(1, event), stream(1)];
const [one, other] = [stream(3, event), stream(3)];
const pause = (db: TestDatabase, ...what: string[]) =>
  db.pool.query('select wh_pause($1, $2)', [what[0], what[1] ?? null]);
const finishes = async (a: work.Instance, ...messages: NewMessage[]) =>
  a.call(inbox.completes(await a.call(inbox.stores(...messages))), noRoom);
const releases = async (a: work.Instance, ...messages: NewMessage[]) =>
  a.call(inbox.releases(await a.call(inbox.stores(...messages))), noRoom);

interface Situation {
  readonly outbox?: NewMessage[];
  readonly inbox?: NewMessage[];
  readonly asks?: work.Parameters;
  /** What has happened before they arrive. */
  readonly before?: (db: TestDatabase, a: work.Instance, b: work.Instance) => Promise<unknown>;
}

const oneByOne = [0, 1, 2].flatMap((i) => [...one.slice(i, i + 1), ...other.slice(i, i + 1), message()]);
const twoHandlers = forHandlers('orders', 'bills');

/** What the call finds, and whether it then takes the short path. */
const situations: [string, boolean, Situation][] = [
  ['one command', true, { inbox: stream(1) }],
  ['a command without a stream', true, { inbox: [message()] }],
  ['one event', true, { inbox: stream(1, event) }],
  [
    'three events of a stream that has two',
    true,
    { inbox: known.slice(2), before: (_, a) => finishes(a, ...known.slice(0, 2)) },
  ],
  ['ten messages, of which some share a stream', true, { inbox: [...oneByOne, message(event)] }],
  ['eleven messages', false, { inbox: streams(11), asks: { p_spare_inbox_streams: 20 } }],
  ['messages of its handlers', true, { inbox: twoHandlers, asks: { p_inbox_handlers: ['bills', 'orders'] } }],
  ['a handler that it lacks', false, { inbox: twoHandlers, asks: { p_inbox_handlers: ['orders'] } }],
  ['a paused handler', false, { inbox: twoHandlers, before: (db) => pause(db, 'type', 'bills') }],
  ['a paused intake', false, { inbox: [message()], before: (db) => pause(db, 'intake') }],
  ['a later time', false, { inbox: [message(), message({ scheduled_for: '2100-01-01' })] }],
  ['a priority', false, { inbox: [message(), message({ priority: 7 })] }],
  ['a priority of zero', true, { inbox: [message({ priority: 0 })] }],
  [
    'a stream of another instance',
    false,
    { inbox: [...held.slice(1), message()], before: (_, __, b) => b.call(inbox.stores(...held.slice(0, 1))) },
  ],
  [
    'less spare than messages',
    false,
    {
      inbox: streams(3),
      asks: { p_spare_inbox_streams: 2, p_takeover_seconds: 0 },
      before: (_, __, b) => b.call(),
    },
  ],
  ['less room than messages', false, { inbox: stream(3), asks: inbox.room(2) }],
  ['a limit of its partitions', false, { inbox: stream(3), asks: { p_max_partitions_per_instance: 1 } }],
  [
    'an event that was appended before',
    false,
    { before: (_, a) => a.call(inbox.stores(...appended), noRoom) },
  ],
  ['an older stream that is due', false, { inbox: [message()], before: (_, a) => releases(a, ...older) }],
  ['an outbox message that is no event', true, { outbox: stream(2) }],
  ['an outbox event', false, { outbox: stream(1, event) }],
  ['messages in both lanes', false, { outbox: stream(1), inbox: stream(1) }],
];

/** The rows that a call leaves, without times; places in a sequence as the order that they give. */
const tables = [
  ...lanes.map(
    ({ table, target }) =>
      `select message_id, ${target}, stream_id, partition_number, is_event, status, flags, attempts, instance_id, priority,
         scheduled_for, lease_expiry is null as is_free, rank() over (order by sequence_order) from ${table} order by 1`,
  ),
  `select s.stream_id, s.lane, s.partition_number, s.instance_id, s.held_through, s.is_blocked, s.waits_for, s.priority,
     s.lease_expiry is null as is_free,
     (select count(*) from wh_outbox m where s.lane = 'outbox' and m.sequence_order < s.head) as sent_below,
     (select count(*) from wh_inbox m where s.lane = 'inbox' and m.sequence_order < s.head) as received_below
   from wh_active_streams s order by 1, 2`,
  'select stream_id, version, event_id from wh_event_store order by 1, 2',
  'select stream_id, version from wh_event_streams order by 1',
];

/** What the call answers, and which of our functions it calls. */
async function asks(client: pg.Client, by: work.Instance, parts: work.Parameters = {}) {
  await client.query(`begin; set local track_functions = 'all'`);
  const items = await by.over(client).call(spare, parts);
  const { rows } = await client.query('select funcname from pg_stat_xact_user_functions where calls > 0');
  await client.query('commit');
  const answer = items.map(({ source, message_id, status, flags, attempts }) =>
    [source, message_id, status, flags, attempts].join(' '),
  );
  return { ids: ids(items), answer, functions: rows.map(({ funcname }): string => funcname) };
}

/** Runs a situation in a database: what was answered, what is left, and whether the short path was taken. */
async function play(db: TestDatabase, situation: Situation) {
  await work.empty(db);
  const [a, b] = [work.instance(db, 'a'), work.instance(db, 'b')];
  await situation.before?.(db, a, b);
  for (const lane of lanes) await lane.insertPlain(db.pool, ...(situation[lane.source] ?? []));
  const { answer, functions } = await asks(await db.connect(), a, situation.asks);
  const left: unknown[] = [];
  for (const table of tables) left.push((await db.pool.query(table)).rows);
  return { answer, left, isShort: answer.length > 0 && !functions.includes('wh_store') };
}

describe('A call that only asks', () => {
  let long: TestDatabase;
  beforeAll(async () => {
    long = await createTestDatabase();
    for (const { source } of lanes)
      await long.pool.query(
        `create or replace function whizbang.wh_few_arrivals_${source}(c wh_call, p_room int) returns wh_arrival[]
         language plpgsql as 'begin return null; end'`,
      );
  });
  afterAll(() => long.drop());

  it.for(situations)(
    'a call that finds %s answers and leaves the same without the short path',
    async ([, takesShort, situation], { db }) => {
      const { isShort, ...ours } = await play(db, situation);
      const { isShort: never, ...theirs } = await play(long, situation);
      expect(ours).toEqual(theirs);
      expect([isShort, never]).toEqual([takesShort, false]);
    },
  );
});

describe.each(lanes)('A call that only asks and finds something in the %s', (lane) => {
  it('a call that finds one message neither ranks itself nor stores nor claims', async ({ db, a }) => {
    await lane.insertPlain(db.pool, ...stream(1));
    const { answer, functions } = await asks(await db.connect(), a);
    expect(answer).toHaveLength(1);
    expect(functions).toContain(`wh_take_few_${lane.source}`);
    const steps = ['wh_rank_caller', 'wh_see_arrivals', 'wh_store', `wh_claim_all_${lane.source}`];
    expect(functions.filter((name) => steps.includes(name))).toEqual([]);
  });

  it('a call that finds only messages in a stream of another instance writes nothing', async ({
    db,
    a,
    b,
  }) => {
    const [first = message(), ...later] = stream(3);
    await b.call(lane.stores(first));
    await a.call();
    await lane.insertPlain(db.pool, ...later);
    await work.silence(db, a, -30);
    await db.pool.query(`update wh_lanes set moved_at = 'infinity', swept_at = 'infinity'`);
    const client = await db.connect();
    await client.query('begin');
    expect(await a.over(client).call(spare)).toEqual([]);
    const { rows } = await client.query('select pg_current_xact_id_if_assigned() as id');
    expect(rows).toEqual([{ id: null }]);
  });
});
