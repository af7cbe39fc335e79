// What a tick seals, and when: one schedule of transactions after the other.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { append, appendMany, faultless, judge, makeTick, newest, ticks } from '../support/ticks.js';
import { it } from '../support/work.js';

describe('wh_tick', () => {
  it('a store without events has no tick', async ({ db }) => {
    expect(await makeTick(db.pool)).toBeNull();
    expect(await ticks(db)).toEqual([]);
  });

  it('a tick seals all events that were committed since the last one', async ({ db }) => {
    const first = [...(await append(db.pool)), ...(await append(db.pool))];
    const before = await makeTick(db.pool);
    const second = await append(db.pool);
    const after = await makeTick(db.pool);
    expect(after).toBe((before ?? 0) + 1);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([first, second]);
  });

  it('no tick is made when nothing was appended since the last one', async ({ db }) => {
    await append(db.pool);
    const newestTick = await makeTick(db.pool);
    await db.pool.query('create table if not exists other (a int)'); // a transaction that appends nothing
    expect(await makeTick(db.pool)).toBe(newestTick);
    expect(await ticks(db)).toHaveLength(1);
  });

  it('a tick leaves out an append that a lock holds up, and seals those that come after it', async ({
    db,
  }) => {
    await db.pool.query(
      `create or replace function hold_up() returns trigger language plpgsql as
         $$ begin if new.event_type = 'Held' then perform pg_advisory_xact_lock(4711); end if; return new; end $$;
       create or replace trigger hold_up before insert on wh_event_store for each row execute function hold_up()`,
    );
    const [gate, writer] = [await begin(db), await openSession(db)];
    try {
      await gate.query('select pg_advisory_xact_lock(4711)');
      const waiting = append(writer.client, undefined, 'Held');
      await waitUntilBlocked(db, writer.pid);
      const later = [...(await append(db.pool)), ...(await append(db.pool))];
      await makeTick(db.pool);
      expect(await newest(db)).toEqual(later);
      await gate.query('commit');
      const held = await waiting;
      expect(held[0]).toBeLessThan(later[0] ?? 0);
      await makeTick(db.pool);
      expect(await newest(db)).toEqual(held);
    } finally {
      await db.pool.query('drop trigger hold_up on wh_event_store');
    }
  });

  it('a tick passes by the numbers of transactions that were rolled back', async ({ db }) => {
    const writer = await begin(db);
    await append(writer.client);
    const [first] = await append(db.pool);
    await makeTick(db.pool);
    await writer.query('rollback');
    const [second] = await append(db.pool);
    await makeTick(db.pool);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([[first], [second]]);
  });

  it('a tick leaves out what its own transaction appends, before it and after it', async ({ db }) => {
    const first = await append(db.pool);
    await makeTick(db.pool);
    const writer = await begin(db);
    const own = await append(writer.client);
    const other = await append(db.pool);
    await makeTick(writer.client);
    own.push(...(await append(writer.client)));
    await writer.query('commit');
    await makeTick(db.pool);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([first, other, own]);
  });

  it('a tick whose transaction is rolled back is made anew by the next call', async ({ db }) => {
    const numbers = await append(db.pool);
    const ticker = await begin(db);
    expect(await makeTick(ticker.client)).toBe(1);
    await ticker.query('rollback');
    expect(await makeTick(db.pool)).toBe(1);
    expect(await ticks(db)).toEqual([{ tick: 1, numbers }]);
  });

  it('two sessions that tick at the same time make one tick, and neither waits', async ({ db }) => {
    await append(db.pool);
    const ticker = await begin(db);
    await makeTick(ticker.client);
    expect(await makeTick(db.pool)).toBeNull();
    await ticker.query('commit');
    expect(await makeTick(db.pool)).toBe(1);
    expect(await judge(db)).toEqual({ ...faultless, events: 1 });
  });

  it('an event with a low number is sealed after its late commit, though no snapshot had listed its transaction', async ({
    db,
  }) => {
    // The id of the late one is the highest that was given out: a snapshot does not list it among those that run.
    const [early, late] = [await begin(db), await begin(db)];
    await early.query('select pg_current_xact_id()');
    const [low] = await append(late.client);
    const [high] = await append(early.client);
    await early.query('commit');
    await makeTick(db.pool);
    expect(await newest(db)).toEqual([high]);
    await late.query('commit');
    await makeTick(db.pool);
    expect(await newest(db)).toEqual([low]);
  });

  it('sessions that are idle in a transaction with locks do not hold up ticks', async ({ db }) => {
    for (let i = 0; i < 10; i++) {
      const idle = await begin(db);
      await idle.query('select pg_current_xact_id(), pg_advisory_xact_lock($1)', [i]);
    }
    const numbers = await append(db.pool);
    await makeTick(db.pool);
    expect(await newest(db)).toEqual(numbers);
  });

  it.for(['repeatable read', 'serializable'])(
    'wh_tick is refused in a %s transaction',
    async (level, { db }) => {
      const { client } = await openSession(db);
      await client.query(`begin isolation level ${level}`);
      await expect(makeTick(client)).rejects.toMatchObject({ code: 'WB003' });
    },
  );

  it('more than 1 000 events become several ticks, by their numbers', async ({ db }) => {
    await appendMany(db.pool, 2_500);
    expect(await makeTick(db.pool)).toBe(3);
    const made = await ticks(db);
    expect(made.map(({ numbers }) => numbers.length)).toEqual([1000, 1000, 500]);
    const order = made.flatMap(({ numbers }) => numbers);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(await judge(db)).toEqual({ ...faultless, events: 2_500 });
  });
});

describe('A store with events from before there were ticks', () => {
  it('the first ticks have all events that are committed, and those that are open come later', async ({
    db,
  }) => {
    await appendMany(db.pool, 1_200);
    const open = await begin(db);
    const [held] = await append(open.client);
    await append(db.pool);
    await db.pool.query(`update wh_event_store set transaction_id = '0'`);
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 1_201 });
    expect((await ticks(db)).flatMap(({ numbers }) => numbers)).not.toContain(held);
    await open.query('commit');
    await append(db.pool);
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 1_203 });
  });

  it('the first tick leaves out what its own transaction has appended', async ({ db }) => {
    const [old] = await append(db.pool);
    await db.pool.query(`update wh_event_store set transaction_id = '0'`);
    const writer = await begin(db);
    const own = await append(writer.client);
    await makeTick(writer.client);
    await writer.query('commit');
    await makeTick(db.pool);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([[old], own]);
  });
});

describe('A sequence of numbers that was set back', () => {
  it('a sequence that was set back fails the next append, and an unused number is sealed once', async ({
    db,
  }) => {
    const [first] = await append(db.pool);
    await db.pool.query(`select nextval('wh_event_sequence')`); // a number that nobody has
    await append(db.pool);
    await makeTick(db.pool);
    await db.pool.query(`select setval('wh_event_sequence', $1, false)`, [first]);
    await expect(append(db.pool)).rejects.toMatchObject({
      code: '23505',
      constraint: 'wh_event_store_sequence',
    });
    const filled = await append(db.pool);
    expect(filled).toEqual([(first ?? 0) + 1]);
    await makeTick(db.pool);
    expect(await newest(db)).toEqual(filled);
    expect(await judge(db)).toEqual({ ...faultless, events: 3 });
    await db.pool.query(`select setval('wh_event_sequence', $1)`, [(first ?? 0) + 100]);
  });
});
