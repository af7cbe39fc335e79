// What is free is handed out by its priority, then by its time. The order of a stream is never broken, and a stream has the
// priority of its first unfinished message.
import { describe, expect } from 'vitest';
import { expireLeases } from '../support/passing-time.js';
import {
  Flags,
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  message,
  type NewMessage,
  stream,
  type WorkRow,
} from '../support/work.js';

const none = { p_max_outbox_items: 0, p_max_inbox_items: 0 };
const data = (row: WorkRow | undefined) => (row?.event_data as { n?: number } | undefined)?.n;
const numbered = (n: number, fields: Partial<NewMessage> = {}) => message({ event_data: { n }, ...fields });

/** Takes one message after the other, each when the one before it is done. Returns their numbers. */
async function oneByOne(instance: Instance, lane: Lane): Promise<(number | undefined)[]> {
  const taken: (number | undefined)[] = [];
  let row = (await instance.call(lane.room(1)))[0];
  while (row !== undefined) {
    taken.push(data(row));
    row = (await instance.call(lane.completes([row]), lane.room(1)))[0];
  }
  return taken;
}

describe.each(lanes)('In the %s', (lane) => {
  it('free messages are handed out by their priority', async ({ a }) => {
    const given = [0, 5, -1, 10, 5, -7, 0].map((priority) => numbered(priority, { priority }));
    await a.call(lane.stores(...given), none);
    expect(await oneByOne(a, lane)).toEqual([10, 5, 5, 0, 0, -1, -7]);
  });

  it('messages that were plainly inserted are handed out by their priority', async ({ db, a }) => {
    await lane.insertPlain(db.pool, numbered(0), numbered(0, { priority: 0 }), numbered(1, { priority: 1 }));
    expect(await oneByOne(a, lane)).toEqual([1, 0, 0]);
  });

  it('messages that a call stores with too little room are taken by their priority', async ({ a }) => {
    const given = [0, 0, 3].map((priority, n) => numbered(n, { priority }));
    expect((await a.call(lane.stores(...given), lane.room(1))).map(data)).toEqual([2]);
  });

  it('a message that a call stores does not overtake one with a higher priority that waits', async ({
    a,
  }) => {
    await a.call(lane.stores(numbered(2, { priority: 2 }), numbered(1, { priority: 1 })), none);
    expect((await a.call(lane.room(1))).map(data)).toEqual([2]);
    expect((await a.call(lane.stores(numbered(0)), lane.room(1))).map(data)).toEqual([1]);
    expect((await a.call(lane.room(1))).map(data)).toEqual([0]);
  });

  it('a stream keeps its order, and waits with the priority of its first message', async ({ a }) => {
    const [one, two, three] = stream(3);
    const mixed = [
      { ...one, event_data: { n: 0 }, priority: -1 },
      { ...two, event_data: { n: 1 }, priority: 9 },
      { ...three, event_data: { n: 2 } },
    ] as NewMessage[];
    await a.call(lane.stores(...mixed, numbered(3), numbered(4, { priority: 5 })), none);
    expect(await oneByOne(a, lane)).toEqual([4, 3, 0, 1, 2]);
  });

  it('what is handed out together comes by priority, each stream in its order', async ({ a }) => {
    const [one, two] = stream(2);
    await a.call(
      lane.stores(
        numbered(0),
        { ...(one as NewMessage), event_data: { n: 1 }, priority: 2 },
        { ...(two as NewMessage), event_data: { n: 2 }, priority: 8 },
        numbered(3, { priority: 5 }),
      ),
      none,
    );
    expect((await a.call()).map(data)).toEqual([3, 1, 2, 0]);
  });

  it('items with a priority above 0 have the flag HighPriority', async ({ a }) => {
    const given = [1, 0, -1].map((priority, n) => numbered(n, { priority }));
    await a.call(lane.stores(...given), none);
    const flags = (await a.call()).map((row) => row.flags & Flags.HighPriority);
    expect(flags).toEqual([Flags.HighPriority, 0, 0]);
  });

  it('a message with a priority is tried first of many that failed and are due', async ({ db, a }) => {
    await a.call(lane.stores(...[0, 0, 0, 0, 7].map((priority, n) => numbered(n, { priority }))), none);
    await a.call(lane.fails(await a.call(), { retry_after_seconds: 60 }), none);
    await db.pool.query(`update ${lane.table} set scheduled_for = now() - interval '1 second'`);
    await db.pool.query(`update wh_active_streams set available_at = now() - interval '1 second'`);
    expect((await a.call(lane.room(1))).map(data)).toEqual([4]);
  });

  it('a message with a priority is found behind a thousand others that nobody has looked at', async ({
    db,
    a,
  }) => {
    await lane.insertInto(
      db,
      Array.from({ length: 1000 }, () => crypto.randomUUID()),
    );
    await lane.insertPlain(db.pool, numbered(1, { priority: 1 }));
    expect((await a.call(lane.room(1))).map(data)).toEqual([1]);
  });

  it('a message without a priority is found behind a thousand with a low one', async ({ db, a }) => {
    await db.pool.query(
      `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, priority)
       select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', -1 from generate_series(1, 1000)`,
    );
    await lane.insertPlain(db.pool, numbered(1));
    expect((await a.call(lane.room(1))).map(data)).toEqual([1]);
    expect(await a.call(lane.room(2))).toHaveLength(2);
  });

  it('several instances take by priority what is theirs, and after the grace period what is not', async ({
    a,
    b,
  }) => {
    const given = Array.from({ length: 40 }, (_, n) => numbered(n, { priority: n % 2 }));
    await b.call();
    await a.call(lane.stores(...given), none);
    const first = [...(await a.call(lane.room(5))), ...(await b.call(lane.room(5)))];
    expect(first.every((row) => (data(row) as number) % 2 === 1)).toBe(true);
    const rest = [];
    for (const each of [a, b]) rest.push(...(await each.call({ p_takeover_seconds: 0 })));
    expect(new Set(ids([...first, ...rest]))).toEqual(new Set(ids(given)));
  });

  it('what a dead instance held comes back, and its priority with it', async ({ db, a, b }) => {
    await a.call(lane.stores(numbered(0), numbered(1, { priority: 3 })), none);
    expect((await a.call()).map(data)).toEqual([1, 0]);
    await expireLeases(db, a);
    expect((await b.call()).map(data).sort()).toEqual([0, 1]);
  });

  it.for([['1.5'], ['"high"'], ['3000000000'], ['"7"']])(
    'a call with the priority %s is refused with the name of the field',
    async ([value], { db, a }) => {
      const row = JSON.stringify([{ ...message(), [lane.target]: 'orders' }]).replace(
        '}]',
        `, "priority": ${value}}]`,
      );
      await expect(
        db.pool.query(
          `select * from process_work_batch(p_instance_id => $1, p_service_name => 'shop', p_host_name => 'h',
             p_process_id => 1, p_new_${lane.source}_messages => $2)`,
          [a.id, row],
        ),
      ).rejects.toThrow(`p_new_${lane.source}_messages[0].priority`);
    },
  );
});
