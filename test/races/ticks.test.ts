// Ticks beside everything that a transaction can do: every committed event is in exactly one tick, and the order of all
// events agrees with that of every stream. A judge compares all events with all ticks at the end.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Random } from '../properties/support/random.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';
import {
  append,
  appendMany,
  audit,
  faultless,
  judge,
  makeTick,
  newest,
  Reader,
  ticks,
  wholeOrder,
} from '../support/ticks.js';
import { Instance, inbox, outbox, stream } from '../support/work.js';
import { noRoom } from './transactions.js';

let db: TestDatabase;
beforeAll(async () => {
  // Autovacuum would make connections read catalogs anew, among the pages that are counted here.
  db = await createDatabaseOnOwnServer({
    max_prepared_transactions: '20',
    max_connections: '100',
    autovacuum: 'off',
  });
});
afterAll(() => db.drop());
beforeEach(async () => {
  // Transactions that a failed test has left open would hold up the next one.
  await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where state like 'idle in transaction%'`,
  );
  await db.pool.query(
    'truncate wh_event_store, wh_event_streams, wh_event_ticks, wh_event_audit, wh_outbox, wh_inbox',
  );
});

const shared = Array.from({ length: 6 }, () => randomUUID()).sort();
/** Some of the shared streams in order, so that writers do not deadlock. */
const someStreams = (random: Random) => {
  const some = random.some(shared, 0.3);
  return some.length > 0 ? some : [random.pick(shared)];
};
const pause = (client: pg.Client, random: Random) =>
  client.query('select pg_sleep($1)', [random.chance(0.3) ? random.next() / 50 : 0]);

type Turn = (client: pg.Client, random: Random) => Promise<void>;

/** What a writer may do between begin and its end. */
const turns: Record<string, Turn> = {
  'takes its id early and appends late': async (client, random) => {
    await client.query('select pg_current_xact_id()');
    await pause(client, random);
    await append(client, someStreams(random));
    await pause(client, random);
  },
  'appends twice with a pause between': async (client, random) => {
    await append(client);
    await pause(client, random);
    await append(client, someStreams(random));
  },
  'appends in more than 64 subtransactions, of which it takes some back': async (client, random) => {
    const own = randomUUID();
    for (let i = 0; i < 70; i++) {
      await client.query('savepoint s');
      await append(client, [own]);
      await client.query(random.chance(0.3) ? 'rollback to savepoint s' : 'release savepoint s');
    }
  },
  'ticks after it has appended, and appends again': async (client, random) => {
    await append(client, someStreams(random));
    await makeTick(client);
    await append(client);
    if (random.chance(0.5)) await makeTick(client);
  },
  'ticks first, then appends': async (client) => {
    await makeTick(client);
    await append(client);
  },
};

async function write(client: pg.Client, random: Random, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const level = random.chance(0.1) ? 'repeatable read' : 'read committed';
    const turn = level === 'read committed' ? random.pick(Object.values(turns)) : turnOf('appends twice');
    await client.query(`begin isolation level ${level}`);
    try {
      await turn(client, random);
      if (random.chance(0.1)) await prepareAndEnd(client, random);
      else await client.query(random.chance(0.18) ? 'rollback' : 'commit');
    } catch (error) {
      await client.query('rollback');
      if ((error as { code?: string }).code !== '40001') throw error; // what repeatable read may meet
    }
  }
}

const turnOf = (start: string) => Object.entries(turns).find(([name]) => name.startsWith(start))?.[1] as Turn;

/** A prepared transaction holds its locks, and its place among the running ones, without a session. */
async function prepareAndEnd(client: pg.Client, random: Random): Promise<void> {
  const name = `'${randomUUID()}'`;
  await client.query(`prepare transaction ${name}`);
  await pause(client, random);
  await client.query(random.chance(0.3) ? `rollback prepared ${name}` : `commit prepared ${name}`);
}

/** Events that come through the coordinator, in both lanes. */
async function callRepeatedly(digit: number, count: number): Promise<void> {
  const instance = new Instance(`0190bbbb-0000-7000-8000-00000000000${digit}`, db.pool);
  for (let i = 0; i < count; i++) {
    const events = () => stream(2, { is_event: true });
    await instance.call(outbox.stores(...events()), inbox.stores(...events()), noRoom);
  }
}

it.each([1, 2, 3])(
  'every event of a crowd of writers is in one tick, in the order of its stream (seed %i)',
  async (seed) => {
    let writing = true;
    const late: number[] = [];
    const old = [await db.connect(), await db.connect()];
    for (const client of old) {
      await client.query('begin');
      await append(client);
    }
    const follower = new Reader(await db.connect(), undefined, undefined, 50);
    const keep = async (work: (client: pg.Client) => Promise<unknown>) => {
      const client = await db.connect();
      while (writing) await work(client);
    };
    const others = [
      keep(makeTick),
      keep(makeTick),
      keep(async (client) => late.push(...(await audit(client)))),
      keep(() => follower.readAll()),
    ];
    const writers = Array.from({ length: 6 }, async (_, i) =>
      write(await db.connect(), new Random(seed * 100 + i), 40),
    );
    await Promise.all([...writers, callRepeatedly(1, 60), callRepeatedly(2, 60)]).finally(() => {
      writing = false;
    });
    await Promise.all(others);
    // Two writers were open all the time, and held up nobody but themselves.
    const held = await judge(db);
    await makeTick(db.pool);
    expect(await judge(db)).toMatchObject({ ...faultless, events: held.events });
    for (const client of old) await client.query('commit');
    await makeTick(db.pool);

    const verdict = await judge(db);
    expect(verdict).toMatchObject({ ...faultless, events: held.events + 2 });
    expect(verdict.events).toBeGreaterThan(1000);
    expect(late).toEqual([]);
    // Who followed meanwhile has read every event once, in the order that the store has for ever.
    expect(await follower.readAll()).toEqual(await wholeOrder(db));
  },
);

it('a prepared transaction is in the tick after its end, and holds up nobody', async () => {
  const writer = await db.connect();
  await writer.query('begin');
  const [early] = await append(writer);
  await writer.query(`prepare transaction 'early'`);
  const later = await append(db.pool);
  await makeTick(db.pool);
  expect(await newest(db)).toEqual(later);
  await db.pool.query(`commit prepared 'early'`);
  await makeTick(db.pool);
  expect(await newest(db)).toEqual([early]);
});

it('200 000 uncommitted events are not read by a tick', async () => {
  const [writer, ticker] = [await db.connect(), await db.connect()];
  /** Pages that a tick touches, in all its statements. The index entries of the uncommitted events are on more than 150. */
  const pages = async () => {
    const { rows } = await ticker.query('explain (analyze, buffers, format json) select wh_tick()');
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  for (let i = 0; i < 3; i++) {
    await append(db.pool);
    await makeTick(ticker);
  }
  await writer.query('begin');
  await appendMany(writer, 200_000);
  await db.pool.query('select pg_current_xact_id()');
  // The last tick is from before the writer began; nothing is to be sealed.
  expect(await pages()).toBeLessThan(100);
  await append(db.pool);
  expect(await pages()).toBeLessThan(100);
  // Now the writer is among those that were open at the last tick.
  await append(db.pool);
  expect(await pages()).toBeLessThan(100);
  expect(await ticks(db)).toHaveLength(5);
  await writer.query('rollback');
  await makeTick(db.pool);
  expect(await judge(db)).toEqual({ ...faultless, events: 5 });
});
