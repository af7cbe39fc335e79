// Every query of the page, run as it is written against messages in the state it is meant for, in both lanes.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession } from '../support/sessions.js';
import {
  expireLeases,
  Flags,
  ids,
  inbox,
  it,
  type Lane,
  lanes,
  message,
  silence,
  stream,
  streams,
} from '../support/work.js';
import { codeBlocks, pageText } from './page.js';

const page = pageText('docs/operate/why-is-my-message-not-running.md');
/** By the comment in their first line. */
const queries = new Map(codeBlocks(page, 'sql').map((sql) => [/^-- (.*)\n/.exec(sql)?.[1] ?? sql, sql]));
const used = new Set<string>();

interface Ids {
  message?: string | undefined;
  stream?: string | null | undefined;
  instance?: string;
}

function queryOf(name: string, lane: Lane, given: Ids): string {
  const sql = queries.get(name);
  if (sql === undefined) throw new Error(`The page has no query named ${name}.`);
  used.add(name);
  return sql
    .replaceAll('outbox', lane.source)
    .replaceAll(
      'destination, event_type, event_data, metadata',
      `${lane.target}, event_type, event_data, metadata`,
    )
    .replace(`select message_id, ${lane.target}`, 'select message_id, destination')
    .replaceAll('created_at', lane.storedAt)
    .replaceAll('<message id>', given.message ?? randomUUID())
    .replaceAll('<stream id>', given.stream ?? randomUUID())
    .replaceAll('<instance id>', given.instance ?? randomUUID());
}

async function ask(
  db: TestDatabase,
  lane: Lane,
  name: string,
  given: Ids = {},
): Promise<Record<string, unknown>[]> {
  const result = await db.pool.query(queryOf(name, lane, given));
  return result.rows;
}

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };

const verdictOn = async (db: TestDatabase, lane: Lane, message?: { message_id: string }) =>
  (await ask(db, lane, 'verdict', { message: message?.message_id }))[0]?.verdict;

describe.each(lanes)('The verdict on a message of the %s', (lane) => {
  it('the verdict on a held message names its holder', async ({ db, a }) => {
    const [first] = await a.call(lane.stores(...stream(1)));
    const [row] = await ask(db, lane, 'verdict', { message: first?.message_id });
    expect(row).toMatchObject({ verdict: 'held by an instance', held_by: a.id });
  });

  it('the verdict on a message behind a held one says that it waits behind it', async ({ db, a }) => {
    const [first, second] = stream(2) as [ReturnType<typeof message>, ReturnType<typeof message>];
    await a.call(lane.stores(first, second), lane.room(1));
    expect(await verdictOn(db, lane, second)).toBe('behind messages of its stream that an instance holds');
  });

  it('the verdict on a failed message and on one behind it names the schedule', async ({ db, a }) => {
    const [first, second] = await a.call(lane.stores(...stream(2)));
    await a.call(
      lane.fails(first ? [first] : [], { retry_after_seconds: 60 }),
      lane.releases(second ? [second] : []),
    );
    expect(await verdictOn(db, lane, first)).toBe('scheduled for later');
    expect(await verdictOn(db, lane, second)).toBe(
      'blocked by an earlier message that is scheduled for later',
    );
  });

  it('the verdict on a message of a paused stream says so, and a query who has paused it', async ({
    db,
    a,
  }) => {
    const paused = stream(2);
    await db.pool.query(`select wh_pause('stream', $1, 'a test', 'ann')`, [paused[0]?.stream_id]);
    await a.call(lane.stores(...paused));
    for (const each of paused) expect(await verdictOn(db, lane, each)).toBe('paused with its stream');
    expect(await ask(db, lane, 'paused')).toMatchObject([
      { kind: 'stream', name: paused[0]?.stream_id, who: 'ann', reason: 'a test' },
    ]);
  });

  it('the verdict tells a dead letter, a finished message and an unknown one apart', async ({ db, a }) => {
    const [dead, kept, gone] = await a.call(lane.stores(...streams(3)));
    await a.call(lane.fails(dead ? [dead] : [], { dead_letter: true }), lane.completes(gone ? [gone] : []));
    await a.call(lane.completes(kept ? [kept] : []), { p_flags: Flags.DebugMode });
    expect(await verdictOn(db, lane, dead)).toBe('dead letter');
    expect(await verdictOn(db, lane, kept)).toBe('finished, kept by DebugMode');
    expect(await verdictOn(db, lane, gone)).toMatch(/^not here/);
    expect(await verdictOn(db, lane)).toMatch(/^not here/);
  });

  it('the verdict on a message that no call has seen is that it is not admitted', async ({ db, a }) => {
    const sent = message();
    await a.call(lane.room(0));
    await lane.insertPlain(db.pool, sent);
    expect(await verdictOn(db, lane, sent)).toBe('not admitted: no call with room has seen it');
  });

  it('the verdict on an event that waits for its version row is that it does', async ({ db, a, b }) => {
    const [first] = await a.call(lane.stores(...stream(1, { is_event: true })));
    await a.call(lane.completes(first ? [first] : []));
    const application = await openSession(db);
    await application.client.query('begin');
    const stream_id = first?.stream_id ?? null;
    const expecting = message({ stream_id, is_event: true, expected_version: 1 });
    await b.over(application.client).with(noRoom).call(lane.stores(expecting));
    const next = message({ stream_id, is_event: true });
    await lane.insertPlain(db.pool, next);
    expect(await a.call()).toEqual([]);
    expect(await verdictOn(db, lane, next)).toBe('waits for the version row of its event stream');
    expect(await ask(db, lane, 'version row', { stream: next.stream_id })).toEqual([
      { version_row_is_locked: true },
    ]);
    expect(await ask(db, lane, 'open transactions')).toMatchObject([{ pid: application.pid }]);
    await application.client.query('rollback');
    expect(await ask(db, lane, 'version row', { stream: next.stream_id })).toEqual([
      { version_row_is_locked: false },
    ]);
  });

  it('the verdict tells an orphaned, a due and an abandoned message apart', async ({ db, a, b }) => {
    const [held, free] = await a.call(lane.stores(...streams(2)));
    await a.call(lane.releases(free ? [free] : []), lane.room(0));
    await expireLeases(db, a);
    expect(await verdictOn(db, lane, held)).toMatch(/^orphaned/);
    expect(await verdictOn(db, lane, free)).toMatch(/^due/);
    await b.call(lane.room(0));
    for (const each of [a, b]) await silence(db, each, 3600);
    expect(await verdictOn(db, lane, free)).toBe('no instance is alive');
  });
});

describe.each(lanes)('The queries of the %s', (lane) => {
  it('the query for the holder shows its stream, which deregistering frees', async ({ db, a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    const rows = await ask(db, lane, 'holder', { message: work[1]?.message_id });
    expect(rows).toMatchObject(
      ids(work).map((message_id) => ({
        message_id,
        instance_id: a.id,
        is_expired: false,
        service_name: 'shop',
      })),
    );
    await ask(db, lane, 'goodbye', { instance: a.id });
    expect(ids(await b.call())).toEqual(ids(work));
  });

  it('the query for scheduled messages shows them, and a retry now hands them out', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(1)));
    await a.call(lane.fails(work, { retry_after_seconds: 3600 }));
    const rows = await ask(db, lane, 'scheduled');
    expect(rows).toMatchObject([{ message_id: work[0]?.message_id, attempts: 1, error: 'it broke' }]);
    await db.pool.query(queryOf('retry now', lane, { message: work[0]?.message_id }));
    expect(ids(await a.call())).toEqual(ids(work));
  });

  it('the query for dead letters shows them, and one that is sent again is handed out', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(1)));
    await a.call(lane.fails(work, { dead_letter: true }));
    const rows = await ask(db, lane, 'dead letters', { stream: work[0]?.stream_id });
    expect(rows).toMatchObject([{ source: lane.source, message_id: work[0]?.message_id, error: 'it broke' }]);
    await ask(db, lane, 'send again', { message: work[0]?.message_id });
    expect(await a.call()).toMatchObject([
      { message_id: work[0]?.message_id, destination: 'orders', attempts: 0 },
    ]);
    expect(await ask(db, lane, 'dead letters', { stream: work[0]?.stream_id })).toEqual([]);
  });

  it('the query for unadmitted messages counts them', async ({ db }) => {
    await lane.insertPlain(db.pool, ...streams(3));
    expect(await ask(db, lane, 'unadmitted')).toMatchObject([{ messages: '3' }]);
  });

  it('the queries for heartbeats and owners show live instances and the owner', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const [item] = await a.call(lane.stores(...stream(1)));
    await silence(db, b, 3600);
    expect(await ask(db, lane, 'heartbeats')).toMatchObject([
      { instance_id: a.id, is_stale: false },
      { instance_id: b.id, is_stale: true },
    ]);
    expect(await ask(db, lane, 'owner', { message: item?.message_id })).toMatchObject([
      { partition_number: item?.partition_number, instance_id: a.id },
    ]);
  });

  it('the query for due streams counts the streams that wait', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    await a.call(lane.releases(work), lane.room(0));
    expect(await ask(db, lane, 'due streams')).toMatchObject([{ lane: lane.source, streams: '3' }]);
  });

  it('the queries for a stream show its order, and what was finished out of it', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(3)));
    for (const item of work) await a.call(lane.completes([item]), { p_flags: Flags.DebugMode });
    const rows = await ask(db, lane, 'stream', { stream: work[0]?.stream_id });
    expect(rows.map(({ message_id }) => message_id)).toEqual(ids(work));
    expect(await ask(db, lane, 'out of order')).toEqual([]);
    await db.pool.query(
      `update ${lane.table} set processed_at = now() - interval '1 hour' where message_id = $1`,
      [work[2]?.message_id],
    );
    expect(await ask(db, lane, 'out of order')).toHaveLength(2);
  });
});

describe('Messages that wait for a handler', () => {
  it('a message without a handler is found by verdict and query, and dropping it frees its stream', async ({
    db,
    a,
  }) => {
    const [first, second] = stream(2).map((each, i) => ({
      ...each,
      handler_name: i === 0 ? 'gone' : 'orders',
    }));
    const all = first && second ? [first, second] : [];
    await inbox.insertPlain(db.pool, ...all);
    expect(await a.call({ p_inbox_handlers: ['orders'] })).toEqual([]);
    for (const each of all)
      expect(await verdictOn(db, inbox, each)).toMatch(/^no instance that has looked has a handler/);
    expect(await ask(db, inbox, 'waited for')).toMatchObject([{ waits_for: 'gone', streams: '1' }]);
    await db.pool.query(queryOf('drop unhandled', inbox, { message: first?.message_id }));
    expect(ids(await a.call({ p_inbox_handlers: ['orders'] }))).toEqual([second?.message_id]);
    expect(await ask(db, inbox, 'waited for')).toEqual([]);
  });
});

describe('The page on messages that do not run', () => {
  it('the page has a place for every reason that explain has', () => {
    const reasons = pageText('docs/operate/explain.md').matchAll(/^\| `([a-z-]+)` \|/gm);
    const codes = [...reasons].map(([, code]) => code);
    expect(codes).toHaveLength(21);
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });

  it('every query of the page is tried by a test', () => {
    expect([...queries.keys()].filter((name) => !used.has(name))).toEqual([]);
  });
});
