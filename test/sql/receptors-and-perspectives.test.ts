import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { type Instance, inbox, it, message, outbox, Status, stream } from '../support/work.js';

const receptors = async (db: TestDatabase) =>
  (await db.pool.query('select * from wh_receptor_processing order by event_id, receptor_name')).rows;
const checkpoints = async (db: TestDatabase) =>
  (
    await db.pool.query(
      'select *, last_version::int from wh_perspective_checkpoints order by stream_id, perspective_name',
    )
  ).rows;

describe('Reports of receptors', () => {
  const report = { event_id: crypto.randomUUID(), receptor_name: 'mailer', status: 8 };

  it('a success of a receptor makes a row with its status and time', async ({ db, a }) => {
    await a.call({ p_receptor_completions: [report] });
    expect(await receptors(db)).toEqual([
      {
        ...report,
        attempts: 0,
        error: null,
        started_at: expect.any(Date),
        processed_at: expect.any(Date),
        retry_at: null,
        given_up_at: null,
      },
    ]);
  });

  it('a failure of a receptor counts an attempt and keeps the error', async ({ db, a }) => {
    await a.call({ p_receptor_failures: [{ ...report, status: 0, error: 'no mail' }] });
    expect(await receptors(db)).toMatchObject([
      { status: Status.Failed, attempts: 1, error: 'no mail', processed_at: null },
    ]);
  });

  it('every failure of a receptor counts as an attempt', async ({ db, a }) => {
    for (const error of ['first', 'second', 'third']) {
      await a.call({ p_receptor_failures: [{ ...report, error }] });
    }
    expect(await receptors(db)).toMatchObject([{ attempts: 3, error: 'third' }]);
  });

  it('a report of a receptor adds its status bits to those that were there', async ({ db, a }) => {
    await a.call({ p_receptor_completions: [{ ...report, status: 8 }] });
    await a.call({ p_receptor_completions: [{ ...report, status: 16 }] });
    expect(await receptors(db)).toMatchObject([{ status: 8 | 16 }]);
  });

  it('a success of a receptor clears its failure but not its attempts', async ({ db, a }) => {
    await a.call({ p_receptor_failures: [{ ...report, error: 'no mail' }] });
    await a.call({ p_receptor_completions: [report] });
    expect(await receptors(db)).toMatchObject([
      { status: 8, attempts: 1, error: null, processed_at: expect.any(Date) },
    ]);
  });

  it.for([
    ['a failure', 'p_receptor_failures', 4],
    ['a success', 'p_receptor_completions', 3],
  ] as const)(
    'a report of %s that names its attempt sets the count',
    async ([, list, attempts], { db, a }) => {
      await a.call({ p_receptor_failures: [{ ...report, attempt: 9, error: 'of a life before' }] });
      await a.call({ [list]: [{ ...report, attempt: 4 }] });
      expect(await receptors(db)).toMatchObject([{ attempts }]);
    },
  );

  it('a report of failure says when the receptor is tried again, or that it is given up', async ({
    db,
    a,
  }) => {
    await a.call({ p_receptor_failures: [{ ...report, error: 'x', retry_after_seconds: 60.5 }] });
    const [{ retry_at, started_at, given_up_at }] = await receptors(db);
    expect(retry_at - started_at).toBe(60_500);
    expect(given_up_at).toBeNull();
    await a.call({ p_receptor_failures: [{ ...report, error: 'y', given_up: true }] });
    expect(await receptors(db)).toMatchObject([
      { attempts: 2, retry_at: null, given_up_at: expect.any(Date) },
    ]);
  });

  it('a report of success clears the time of the retry and that the receptor was given up', async ({
    db,
    a,
  }) => {
    const failure = { ...report, status: 0, error: 'x', retry_after_seconds: 60, given_up: true };
    await a.call({ p_receptor_failures: [failure] });
    await a.call({ p_receptor_completions: [report] });
    expect(await receptors(db)).toMatchObject([
      { status: 8, error: null, retry_at: null, given_up_at: null },
    ]);
  });

  it('a receptor has begun as long ago as its last attempt took', async ({ db, a }) => {
    await a.call({ p_receptor_failures: [{ ...report, error: 'x', took_seconds: 3600 }] });
    await a.call({ p_receptor_completions: [{ ...report, took_seconds: 2.5 }] });
    const [{ started_at, processed_at }] = await receptors(db);
    expect(processed_at - started_at).toBe(2_500);
  });

  it('a receptor is due when the time of the message that was reported with it has come', async ({
    db,
    a,
  }) => {
    const [item] = await a.call(inbox.stores(message()));
    if (item === undefined) throw new Error('an item');
    const failure = { ...report, event_id: item.message_id, error: 'x', retry_after_seconds: 0.25 };
    await a.call(inbox.fails([item], { retry_after_seconds: 0.25 }), { p_receptor_failures: [failure] });
    const { rows } = await db.pool.query(
      'select m.scheduled_for = r.retry_at as is_equal from wh_inbox m, wh_receptor_processing r',
    );
    expect(rows).toEqual([{ is_equal: true }]);
  });

  it('the records of an event are read with the wait that is left', async ({ db, a }) => {
    await a.call({
      p_receptor_completions: [report],
      p_receptor_failures: [
        { ...report, status: 0, receptor_name: 'printer', error: 'no paper', retry_after_seconds: 3600 },
        { ...report, status: 0, receptor_name: 'shipper', attempt: 3, error: 'no ship', given_up: true },
      ],
    });
    const { rows } = await db.pool.query('select * from wh_receptor_records($1)', [report.event_id]);
    expect(rows).toMatchObject([
      { receptor_name: 'mailer', is_done: true, is_given_up: false, attempts: 0, wait_seconds: null },
      { receptor_name: 'printer', is_done: false, is_given_up: false, attempts: 1, error: 'no paper' },
      { receptor_name: 'shipper', is_done: false, is_given_up: true, attempts: 3, error: 'no ship' },
    ]);
    expect(rows[1].wait_seconds).toBeGreaterThan(3590);
    expect(rows[1].wait_seconds).toBeLessThanOrEqual(3600);
  });

  it('reports of receptors are kept per event and receptor', async ({ db, a }) => {
    await a.call({
      p_receptor_completions: [report, { ...report, receptor_name: 'printer' }],
      p_receptor_failures: [{ ...report, event_id: crypto.randomUUID(), error: 'x' }],
    });
    expect(await receptors(db)).toHaveLength(3);
  });
});

describe('Reports of perspectives', () => {
  async function appended(a: Instance, count: number) {
    const events = stream(count, { is_event: true });
    await a.call(outbox.stores(...events));
    const at = (version: number) => ({
      stream_id: events[0]?.stream_id,
      perspective_name: 'order-list',
      last_event_id: events[version - 1]?.message_id,
      status: 16,
    });
    return { events, at };
  }

  it('a success of a perspective notes the event and its version', async ({ db, a }) => {
    const { at } = await appended(a, 3);
    await a.call({ p_perspective_completions: [at(2)] });
    expect(await checkpoints(db)).toMatchObject([
      { ...at(2), last_version: 2, error: null, updated_at: expect.any(Date), held: false },
    ]);
  });

  it('a report of a perspective moves its checkpoint forward', async ({ db, a }) => {
    const { at } = await appended(a, 3);
    await a.call({ p_perspective_completions: [at(1)] });
    await a.call({ p_perspective_completions: [at(3)] });
    expect(await checkpoints(db)).toMatchObject([{ last_event_id: at(3).last_event_id, last_version: 3 }]);
  });

  it('a report of a perspective never moves its checkpoint backwards', async ({ db, a }) => {
    const { at } = await appended(a, 3);
    await a.call({ p_perspective_completions: [at(3)] });
    await a.call({ p_perspective_completions: [at(1)] });
    await a.call({ p_perspective_failures: [{ ...at(2), error: 'late' }] });
    expect(await checkpoints(db)).toMatchObject([{ last_event_id: at(3).last_event_id, last_version: 3 }]);
  });

  it('the furthest of several reports of a perspective in one call counts', async ({ db, a }) => {
    const { at } = await appended(a, 3);
    await a.call({ p_perspective_completions: [at(2), at(3), at(1)] });
    expect(await checkpoints(db)).toMatchObject([{ last_version: 3 }]);
  });

  it('a failure of a perspective keeps how far it came, the bit Failed and the error', async ({ db, a }) => {
    const { at } = await appended(a, 3);
    await a.call({ p_perspective_completions: [at(1)] });
    await a.call({ p_perspective_failures: [{ ...at(2), error: 'no such column' }] });
    expect(await checkpoints(db)).toMatchObject([
      { last_version: 2, status: 16 | Status.Failed, error: 'no such column' },
    ]);
  });

  it('a perspective that fails at its first event has a checkpoint without an event', async ({ db, a }) => {
    const { at } = await appended(a, 1);
    await a.call({ p_perspective_failures: [{ ...at(1), last_event_id: null, error: 'x' }] });
    expect(await checkpoints(db)).toMatchObject([{ last_event_id: null, last_version: 0, error: 'x' }]);
  });

  it('a success of a perspective clears its failure', async ({ db, a }) => {
    const { at } = await appended(a, 2);
    await a.call({ p_perspective_failures: [{ ...at(1), error: 'x' }] });
    await a.call({ p_perspective_completions: [at(2)] });
    expect(await checkpoints(db)).toMatchObject([{ last_version: 2, status: 16, error: null }]);
  });

  it('a perspective with a success and a failure in one call has failed, as far as it came', async ({
    db,
    a,
  }) => {
    const { at } = await appended(a, 3);
    await a.call({
      p_perspective_completions: [at(2)],
      p_perspective_failures: [{ ...at(2), last_event_id: null, error: 'at the third' }],
    });
    expect(await checkpoints(db)).toMatchObject([
      { last_event_id: at(2).last_event_id, last_version: 2, error: 'at the third' },
    ]);
  });

  it('checkpoints are kept per stream and perspective', async ({ db, a }) => {
    const { at } = await appended(a, 2);
    await a.call({ p_perspective_completions: [at(1), { ...at(2), perspective_name: 'totals' }] });
    expect(await checkpoints(db)).toMatchObject([
      { perspective_name: 'order-list', last_version: 1 },
      { perspective_name: 'totals', last_version: 2 },
    ]);
  });
});
