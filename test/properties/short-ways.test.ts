// The same schedules with every short way of the SQL switched off: the same answers, the same rows, call by call.
import type pg from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSchedule, stepsOf } from './support/schedule.js';
import type { Snapshot } from './support/snapshot.js';
import type { Connections } from './support/world.js';

const count = Number(process.env.SCHEDULES ?? 300) / 10;
const first = Number(process.env.SEED ?? 20261115);

/** Each says by its answer that it is not for this call, and then the long way is taken. */
const shortWays = {
  wh_settle_one: 'false',
  wh_settle_stream_outbox: 'false',
  wh_settle_stream_inbox: 'false',
  wh_store_one_outbox: 'null',
  wh_store_one_inbox: 'null',
  wh_few_arrivals_outbox: 'null',
  wh_few_arrivals_inbox: 'null',
};

async function switchOff(db: TestDatabase): Promise<void> {
  for (const [name, answer] of Object.entries(shortWays)) {
    const { rows } = await db.pool.query(
      `select pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result from pg_proc
       where proname = $1 and pronamespace = 'whizbang'::regnamespace`,
      [name],
    );
    await db.pool.query(
      `create or replace function whizbang.${name}(${rows[0].arguments}) returns ${rows[0].result}
       language plpgsql as 'begin return ${answer}; end'`,
    );
  }
}

/** Its connections, and all that was answered over them: what calls handed out, and the rows after each step. */
async function recorded(db: TestDatabase) {
  const answers: unknown[] = [];
  const record = async () => {
    const client = await db.connect();
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>;
    client.query = (async (...args: unknown[]) => {
      const result = await query(...args);
      answers.push(...answersIn(result.rows ?? []));
      return result;
    }) as typeof client.query;
    return client;
  };
  const some = (size: number) => Promise.all(Array.from({ length: size }, record));
  const connections: Connections = {
    workers: await some(3),
    applications: await some(2),
    observer: await record(),
  };
  // Floors move with the time that passes here; without them a schedule is the same each time.
  await db.pool.query(`update wh_lanes set moved_at = 'infinity', swept_at = 'infinity'`);
  return { connections, answers };
}

type Row = { snapshot?: Snapshot; source?: string; stream_id?: string | null } & Record<string, unknown>;

/** What calls and looks answered. Only within a stream is there an order. */
function answersIn(rows: readonly Row[]): unknown[] {
  const streamOf = ({ source, stream_id, message_id }: Row) => `${source} ${stream_id ?? message_id}`;
  return rows
    .filter(({ snapshot, source }) => snapshot !== undefined || source !== undefined)
    .toSorted((a, b) => streamOf(a).localeCompare(streamOf(b)))
    .map(withoutTimes);
}

/** Numbers of sequences and times differ from run to run; the order that they give does not. */
function withoutTimes(row: Row): unknown {
  if (row.snapshot === undefined) return [row.source, row.message_id, row.status, row.flags, row.attempts];
  const { messages, streams, dead, events, versions } = row.snapshot;
  return {
    messages: messages
      .toSorted((a, b) =>
        a.lane === b.lane ? a.sequence_order - b.sequence_order : a.lane < b.lane ? -1 : 1,
      )
      .map(({ sequence_order: _, ...rest }) => rest),
    streams: streams
      .map(({ lane, stream_id, instance_id, held }) => [lane, stream_id, instance_id, held].join(' '))
      .sort(),
    dead,
    events: events.map(({ stream_id, version, event_id }) => [stream_id, version, event_id].join(' ')).sort(),
    versions,
  };
}

it(`${count} random schedules get the same answers, and leave the same rows, without the short ways`, {
  timeout: 300_000,
}, async () => {
  await using db = await createTestDatabase();
  await using long = await createTestDatabase();
  await switchOff(long);
  const [ours, theirs] = [await recorded(db), await recorded(long)];
  for (let seed = first; seed < first + count; seed++) {
    for (const { connections } of [ours, theirs])
      await runSchedule(connections, seed, stepsOf(seed), { takesAll: true });
    const taken = theirs.answers.splice(0);
    expect(ours.answers.splice(0), `seed ${seed}`).toEqual(taken);
    expect(taken.length).toBeGreaterThan(40);
  }
});
