import { describe, expect } from 'vitest';
import { Flags, ids, inbox, it, message, outbox, stream } from '../support/work.js';

describe('The inbox', () => {
  it('the inbox stores a message once, however often it is delivered', async ({ db, a, b }) => {
    const twice = message();
    expect(await a.call(inbox.stores(twice))).toHaveLength(1);
    expect(await a.call(inbox.stores(twice))).toEqual([]);
    expect(await b.call(inbox.stores(twice))).toEqual([]);
    expect(await inbox.rows(db)).toHaveLength(1);
  });

  it('the inbox remembers the id of a completed message', async ({ db, a }) => {
    const twice = message();
    await a.call(inbox.completes(await a.call(inbox.stores(twice))));
    expect(await a.call(inbox.stores(twice))).toEqual([]);
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('the inbox remembers the id of a dead letter', async ({ db, a }) => {
    const twice = message();
    await a.call(inbox.fails(await a.call(inbox.stores(twice)), { dead_letter: true }));
    expect(await a.call(inbox.stores(twice))).toEqual([]);
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('the inbox stores the first of two messages with one id in one call', async ({ db, a }) => {
    const [first, second] = stream(2, { message_id: crypto.randomUUID() });
    if (!first || !second) throw new Error('two messages');
    await a.call(inbox.stores({ ...first, event_data: 'first' }, { ...second, event_data: 'second' }));
    expect(await inbox.rows(db)).toMatchObject([{ event_data: 'first' }]);
  });

  it('the inbox stores the new messages of a call that also has duplicates, in order', async ({ a }) => {
    const messages = stream(4);
    await a.call(inbox.completes(await a.call(inbox.stores(...messages.slice(1, 2)))));
    const work = await a.call(inbox.stores(...messages));
    expect(ids(work)).toEqual(ids(messages.filter((_, i) => i !== 1)));
  });

  it('a duplicate that names another stream leaves no stream row behind', async ({ db, a }) => {
    const twice = message();
    await a.call(inbox.completes(await a.call(inbox.stores(twice))));
    await a.call(inbox.stores({ ...twice, stream_id: crypto.randomUUID() }));
    expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
  });

  it('the inbox notes when it first saw each message', async ({ db, a }) => {
    const twice = message();
    await a.call(inbox.stores(twice));
    const noted = await db.pool.query('select * from wh_message_deduplication');
    await a.call(inbox.stores(twice));
    expect(noted.rows).toMatchObject([{ message_id: twice.message_id, first_seen_at: expect.any(Date) }]);
    expect((await db.pool.query('select * from wh_message_deduplication')).rows).toEqual(noted.rows);
  });

  it('the inbox accepts an id that is also in the outbox', async ({ a }) => {
    const both = message();
    await a.call(outbox.stores(both));
    expect(await a.call(inbox.stores(both))).toHaveLength(1);
  });
});

describe('A call that asks for duplicates', () => {
  it('a call is told which of its new messages are known, in each lane', async ({ a, b }) => {
    const [known, fresh] = [message(), message()];
    await a.call(inbox.completes(await a.call(inbox.stores(known))));
    await a.call(outbox.stores(known));
    const flags = { p_flags: Flags.Duplicate };
    const rows = await b.call({ ...inbox.stores(known, fresh), ...outbox.stores(fresh, known), ...flags });
    const told = rows.filter(({ flags }) => (flags & Flags.Duplicate) !== 0);
    expect(told.map(({ source, message_id }) => [source, message_id])).toEqual([
      ['outbox', known.message_id],
      ['inbox', known.message_id],
    ]);
    expect(rows).toHaveLength(4);
  });

  it('a call without room, and one with a single message, are told too', async ({ a, b }) => {
    const [known, other] = [message(), message()];
    await a.call(inbox.stores(known));
    const asks = { p_flags: Flags.Duplicate };
    expect(ids(await b.call({ ...inbox.stores(known), ...asks }))).toEqual([known.message_id]);
    const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };
    const rows = await b.call({ ...inbox.stores(known, other), ...asks, ...noRoom });
    expect(ids(rows)).toEqual([known.message_id]);
  });

  it('a call that does not ask, or has no duplicates, gets no row for them', async ({ a, b }) => {
    const known = message();
    const asks = { p_flags: Flags.Duplicate };
    expect(await a.call({ ...inbox.stores(known), ...asks })).toMatchObject([{ flags: Flags.NewlyStored }]);
    expect(await b.call(inbox.stores(known))).toEqual([]);
  });
});

describe('The outbox', () => {
  it('the outbox does not deduplicate messages by their content', async ({ db, a }) => {
    const [one, two] = stream(2, { event_data: { same: true } });
    await a.call(outbox.stores(one ?? message(), two ?? message()));
    expect(await outbox.rows(db)).toHaveLength(2);
    expect((await db.pool.query('select from wh_message_deduplication')).rowCount).toBe(0);
  });

  it('the outbox ignores an id that is stored and unfinished', async ({ db, a, b }) => {
    const [again] = stream(1);
    if (!again) throw new Error('one message');
    await a.call(outbox.stores(again));
    const before = await outbox.rows(db);
    expect(await a.call(outbox.stores({ ...again, event_data: 'other' }))).toEqual([]);
    expect(await b.call(outbox.stores(again))).toEqual([]);
    expect(await outbox.rows(db)).toEqual(before);
  });

  it('the outbox ignores an id that waits, also under another stream', async ({ db, a }) => {
    const again = message({ stream_id: crypto.randomUUID() });
    await a.call(outbox.stores(again), outbox.room(0));
    const work = await a.call(outbox.stores({ ...again, stream_id: crypto.randomUUID() }));
    expect(work).toMatchObject([{ message_id: again.message_id, stream_id: again.stream_id }]);
    const { rows } = await db.pool.query('select stream_id from wh_active_streams');
    expect(rows).toEqual([{ stream_id: again.stream_id }]);
  });

  it('a call sent again stores the messages that the outbox does not have yet', async ({ a }) => {
    const messages = stream(3);
    await a.call(outbox.stores(...messages.slice(0, 1)));
    await a.call(outbox.stores(...messages));
    expect(ids(await a.call(outbox.completes(messages.slice(0, 1))))).toEqual(ids(messages.slice(1)));
  });

  it('the outbox takes the id of a finished message as a new message', async ({ a }) => {
    const again = message();
    await a.call(outbox.completes(await a.call(outbox.stores(again))));
    expect(await a.call(outbox.stores(again))).toMatchObject([
      { message_id: again.message_id, flags: Flags.NewlyStored },
    ]);
  });

  it('the outbox takes an id that was finished in debug mode as a new message', async ({ a }) => {
    const again = message();
    await a.call(outbox.completes(await a.call(outbox.stores(again))), { p_flags: Flags.DebugMode });
    expect(ids(await a.call(outbox.stores(again)))).toEqual([again.message_id]);
  });

  it('the outbox stores the first of two messages with one id in one call', async ({ db, a }) => {
    const again = message();
    await a.call(outbox.stores({ ...again, event_data: 1 }, { ...again, event_data: 2 }));
    expect(await outbox.rows(db)).toMatchObject([{ event_data: 1 }]);
  });
});
