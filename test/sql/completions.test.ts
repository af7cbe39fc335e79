import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { Flags, ids, inbox, it, lanes, message, outbox, Status, stream, streams } from '../support/work.js';

const openStreams = async (db: TestDatabase) => (await db.pool.query('select * from wh_active_streams')).rows;

describe.each(lanes)('In the %s, a completion', (lane) => {
  it('of the last stage deletes the message', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    expect(await a.call(lane.completes(work))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
    expect(await openStreams(db)).toEqual([]);
  });

  it('of a part of the stages keeps the message, without its lease', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work, lane.partly));
    expect(await lane.rows(db)).toMatchObject([
      {
        status: Status.Stored | lane.partly,
        instance_id: null,
        lease_expiry: null,
        processed_at: null,
        attempts: 0,
      },
    ]);
  });

  it('of a part is not handed out by the same call, but by the next, with its status', async ({ a }) => {
    const work = await a.call(lane.stores(...stream(1)));
    expect(await a.call(lane.completes(work, lane.partly))).toEqual([]);
    expect(await a.call()).toMatchObject([
      { message_id: work[0]?.message_id, status: Status.Stored | lane.partly, attempts: 0 },
    ]);
  });

  it('of a part keeps the order of its stream', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(3)), lane.room(1));
    await a.call(lane.completes(work, lane.partly), lane.room(0));
    const next = await b.call({ p_takeover_seconds: 0 });
    expect(next).toHaveLength(3);
    expect(next[0]?.message_id).toBe(work[0]?.message_id);
  });

  it('adds its bits to those that were there', async ({ db, a }) => {
    const unused = 1 << 10;
    await a.call(lane.completes(await a.call(lane.stores(message())), lane.partly));
    await a.call(lane.completes(await a.call(), unused));
    expect(await lane.rows(db)).toMatchObject([{ status: Status.Stored | lane.partly | unused }]);
  });

  it('given twice in a call counts once, with the bits of both', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const both = [8, 1024].map((status) => ({ message_id: work[0]?.message_id, status }));
    expect(await a.call({ [`p_${lane.source}_completions`]: both })).toEqual([]);
    expect(await lane.rows(db)).toMatchObject([{ status: Status.Stored | 8 | 1024 }]);
  });

  it('frees the rest of its stream, for this very call', async ({ a }) => {
    const messages = stream(5);
    const first = await a.call(lane.stores(...messages), lane.room(2));
    expect(ids(await a.call(lane.completes(first), lane.room(2)))).toEqual(ids(messages.slice(2, 4)));
  });

  it('and a new message of the same stream in one call hand the new one out at once', async ({ a }) => {
    const [first, second] = stream(2);
    const work = await a.call(lane.stores(first ?? message()));
    expect(await a.call(lane.completes(work), lane.stores(second ?? message()))).toMatchObject([
      { message_id: second?.message_id, flags: Flags.NewlyStored },
    ]);
  });
});

describe.each(lanes)('In the %s, a completion with status 0', (lane) => {
  it('gives the lease back and changes nothing else', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const [before] = await lane.rows(db);
    await a.call(lane.releases(work), lane.room(0));
    expect(await lane.rows(db)).toEqual([{ ...before, instance_id: null, lease_expiry: null }]);
  });

  it('may be handed out again by the same call', async ({ a }) => {
    const work = await a.call(lane.stores(...stream(2)));
    expect(ids(await a.call(lane.releases(work)))).toEqual(ids(work));
  });

  it('leaves the message to another instance', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await a.call(lane.releases(work), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(work));
  });

  it('of a later message does not hand it out while an earlier one is held', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    expect(await a.call(lane.releases(work.slice(1)))).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });
});

describe('An outbox message', () => {
  it.for([Status.Stored, Status.EventStored, Status.ReceptorProcessed | Status.PerspectiveProcessed])(
    'is not done by status %d',
    async (status, { db, a }) => {
      await a.call(outbox.completes(await a.call(outbox.stores(message())), status));
      expect(await outbox.rows(db)).toHaveLength(1);
    },
  );

  it.for([Status.Published, Status.Published | Status.ReceptorProcessed])(
    'is done by status %d',
    async (status, { db, a }) => {
      await a.call(outbox.completes(await a.call(outbox.stores(message())), status));
      expect(await outbox.rows(db)).toEqual([]);
    },
  );
});

describe('An inbox message', () => {
  it.for([Status.Stored, Status.Published, Status.ReceptorProcessed, Status.PerspectiveProcessed])(
    'is not done by status %d',
    async (status, { db, a }) => {
      await a.call(inbox.completes(await a.call(inbox.stores(message())), status));
      expect(await inbox.rows(db)).toHaveLength(1);
    },
  );

  it.for([Status.EventStored, Status.ReceptorProcessed | Status.PerspectiveProcessed])(
    'is done by status %d',
    async (status, { db, a }) => {
      await a.call(inbox.completes(await a.call(inbox.stores(message())), status));
      expect(await inbox.rows(db)).toEqual([]);
    },
  );

  it('is done when its receptor and its perspectives have reported one after the other', async ({
    db,
    a,
  }) => {
    await a.call(inbox.completes(await a.call(inbox.stores(message())), Status.ReceptorProcessed));
    await a.call(inbox.completes(await a.call(), Status.PerspectiveProcessed));
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('is done when a failure and a later completion together cover both', async ({ db, a }) => {
    const failed = { completed_status: Status.ReceptorProcessed, retry_after_seconds: 0 };
    await a.call(inbox.fails(await a.call(inbox.stores(message())), failed));
    await a.call(inbox.completes(await a.call(), Status.PerspectiveProcessed));
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('that is an event is not done because it was appended', async ({ db, a }) => {
    const work = await a.call(inbox.stores(...stream(1, { is_event: true })));
    expect(work).toMatchObject([{ status: Status.Stored | Status.EventStored }]);
    await a.call(inbox.completes(work, Status.ReceptorProcessed));
    expect(await inbox.rows(db)).toHaveLength(1);
  });
});
