// What operators do by SQL functions: each leaves a row that says who, what, to what, and how it was before.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { Flags, ids, inbox, it, lanes, message, outbox, stream, type WorkRow } from '../support/work.js';

const ask = async (db: TestDatabase, call: string, ...values: unknown[]) => {
  const { rows } = await db.pool.query(`select ${call} as answer`, values);
  return rows[0].answer as unknown;
};
const operations = async (db: TestDatabase) =>
  (await db.pool.query('select who, operation, target, before from wh_operations order by id')).rows;
const takeover = { p_takeover_seconds: 0 };
const lost = (items: readonly WorkRow[]) => items.filter(({ flags }) => flags === Flags.LeaseLost);

describe.each(lanes)('In the %s', (lane) => {
  it('a message that is given up becomes a dead letter, and its stream goes on', async ({ db, a }) => {
    const all = stream(3);
    const [first] = await a.call(lane.stores(...all), lane.room(1));
    await a.call(lane.fails([first as never], { error: 'declined', retry_after_seconds: 600 }));
    expect(await a.call()).toEqual([]);
    expect(await ask(db, 'wh_give_up($1, $2, $3)', all[0]?.message_id, 'ticket 7', 'anna')).toBe(true);
    expect(await ask(db, 'wh_give_up($1)', all[0]?.message_id)).toBe(false);
    expect(ids(await a.call())).toEqual(ids(all.slice(1)));
    const { rows } = await db.pool.query('select source, message_id, attempts, error from wh_dead_letters');
    const error = 'An operator gave it up: ticket 7\ndeclined';
    expect(rows).toEqual([{ source: lane.source, message_id: all[0]?.message_id, attempts: 1, error }]);
    expect(await operations(db)).toMatchObject([
      {
        who: 'anna',
        operation: 'give-up',
        target: `message ${all[0]?.message_id}`,
        before: { lane: lane.source, attempts: 1, reason: 'ticket 7', stream_id: all[0]?.stream_id },
      },
    ]);
  });

  it('what its holder says of a message that was given up is refused', async ({ db, a, b }) => {
    const all = stream(3);
    const items = await a.call(lane.stores(...all));
    expect(await ask(db, 'wh_give_up($1)', all[0]?.message_id)).toBe(true);
    expect(await b.call(takeover)).toEqual([]);
    const answer = await a.call(lane.completes(items.slice(0, 2)));
    expect(lost(answer).map(({ message_id }) => message_id)).toEqual([all[0]?.message_id]);
    expect(await ask(db, 'wh_give_up($1)', all[2]?.message_id)).toBe(true);
    expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
  });

  it('a message that nobody has admitted can be given up, also from the middle', async ({ db, a }) => {
    const all = stream(3);
    await lane.insertPlain(db.pool, ...all);
    expect(await ask(db, 'wh_give_up($1)', all[1]?.message_id)).toBe(true);
    expect(ids(await a.call())).toEqual([all[0]?.message_id, all[2]?.message_id]);
  });

  it('a stream that is released goes to others at once, and its holder is refused', async ({ db, a, b }) => {
    const all = stream(2);
    const items = await a.call(lane.stores(...all));
    await b.call();
    expect(await ask(db, 'wh_release_stream($1, $2)', all[0]?.stream_id, 'anna')).toBe(true);
    expect(await ask(db, 'wh_release_stream($1)', all[0]?.stream_id)).toBe(false);
    expect(lost(await a.call(lane.completes(items), lane.room(0)))).toHaveLength(2);
    expect(ids(await b.call(takeover))).toEqual(ids(all));
    expect(await operations(db)).toMatchObject([
      { operation: 'release-stream', before: [{ lane: lane.source, held_by: a.id }] },
    ]);
  });

  it('an instance that is released holds nothing any more', async ({ db, a, b }) => {
    const items = await a.call(lane.stores(...stream(2), message()));
    await b.call();
    expect(await ask(db, 'wh_release_instance($1)', a.id)).toBe(2);
    expect(await ask(db, 'wh_release_instance($1)', a.id)).toBe(0);
    expect(lost(await a.call(lane.renews(items), lane.room(0)))).toHaveLength(3);
    expect(await b.call(takeover)).toHaveLength(3);
    expect(await operations(db)).toMatchObject([
      { operation: 'release-instance', target: `instance ${a.id}`, before: { streams: 2, bookmarks: 0 } },
    ]);
  });
});

describe('The operations of operators', () => {
  it('an operation that changes nothing leaves no row', async ({ db }) => {
    const id = randomUUID();
    for (const name of [
      'wh_retry_now',
      'wh_give_up',
      'wh_release_stream',
      'wh_release_instance',
      'wh_cancel_message',
    ]) {
      expect([false, 0]).toContain(await ask(db, `${name}($1)`, id));
    }
    await db.pool.query('select wh_retry_dead_letters($1), wh_discard_dead_letters($1)', [id]);
    expect(await ask(db, `wh_resume('intake')`)).toBe(false);
    expect(await operations(db)).toEqual([]);
  });

  it('the name of who acts is what is said, or the role and the application of the session', async ({
    db,
  }) => {
    const client = await db.connect();
    await client.query(`set application_name = 'night shift'; select wh_pause('type', 'a')`);
    await client.query(`select wh_resume('type', 'a', 'anna'), session_user`);
    const { rows } = await client.query('select session_user as name');
    await client.end();
    const who = (await operations(db)).map((each) => each.who);
    expect(who).toEqual([`${rows[0].name} night shift`, 'anna']);
    const roles = await db.pool.query('select distinct role_name from wh_operations');
    expect(roles.rows).toEqual([{ role_name: rows[0].name }]);
  });

  it('a message that is made due is written down with the time for which it waited', async ({ db, a }) => {
    const [item] = await a.call(inbox.stores(message()));
    await a.call(inbox.fails([item as never], { retry_after_seconds: 600 }));
    expect(await ask(db, 'wh_retry_now($1, $2)', item?.message_id, 'anna')).toBe(true);
    expect(await operations(db)).toMatchObject([
      { who: 'anna', operation: 'retry-now', before: { lane: 'inbox', attempts: 1 } },
    ]);
    expect(await a.call()).toHaveLength(1);
  });

  it('a cancelled message is written down only if an operator is named', async ({ db }) => {
    const [one, two] = [message(), message()];
    await outbox.insertPlain(db.pool, one, two);
    await db.pool.query('select wh_cancel_message($1), wh_cancel_message($2, $3)', [
      one.message_id,
      two.message_id,
      'anna',
    ]);
    expect(await operations(db)).toEqual([
      { who: 'anna', operation: 'cancel', target: `message ${two.message_id}`, before: null },
    ]);
  });

  it('dead letters of a stream are put back as they were stored, whatever order they died in', async ({
    db,
    a,
  }) => {
    const all = stream(3);
    await inbox.insertPlain(db.pool, ...all);
    for (const each of [all[2], all[0], all[1]]) await ask(db, 'wh_give_up($1)', each?.message_id);
    await db.pool.query('select wh_retry_dead_letters(p_stream_id => $1, p_who => $2)', [
      all[0]?.stream_id,
      'anna',
    ]);
    expect(ids(await a.call())).toEqual(ids(all));
    const noted = (await operations(db)).at(-1);
    expect(noted).toMatchObject({
      who: 'anna',
      operation: 'retry-dead-letters',
      target: `stream ${all[0]?.stream_id}`,
    });
    expect(noted.before.letters).toHaveLength(3);
    expect(JSON.stringify(noted.before)).not.toContain('total');
  });

  it('an event that is not in the event store yet cannot be given up', async ({ db }) => {
    const event = stream(1, { is_event: true })[0];
    await inbox.insertPlain(db.pool, event as never);
    await expect(ask(db, 'wh_give_up($1)', event?.message_id)).rejects.toMatchObject({ code: 'WB001' });
    expect(await inbox.rows(db)).toHaveLength(1);
  });
});
