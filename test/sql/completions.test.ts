import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { Flags, ids, inbox, it, lanes, message, outbox, Status, stream, streams } from '../support/work.js';

const openStreams = async (db: TestDatabase) => (await db.pool.query('select * from wh_active_streams')).rows;

describe.each(lanes)('Completions in the %s', (lane) => {
  it('a completion of the last stage deletes the message', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    expect(await a.call(lane.completes(work))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
    expect(await openStreams(db)).toEqual([]);
  });

  it('a partial completion keeps the message and ends its lease', async ({ db, a }) => {
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

  it('a partly completed message is handed out by the next call, not by the same one', async ({ a }) => {
    const work = await a.call(lane.stores(...stream(1)));
    expect(await a.call(lane.completes(work, lane.partly))).toEqual([]);
    expect(await a.call()).toMatchObject([
      { message_id: work[0]?.message_id, status: Status.Stored | lane.partly, attempts: 0 },
    ]);
  });

  it('a partly completed message stays the first of its stream', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(3)), lane.room(1));
    await a.call(lane.completes(work, lane.partly), lane.room(0));
    const next = await b.call({ p_takeover_seconds: 0 });
    expect(next).toHaveLength(3);
    expect(next[0]?.message_id).toBe(work[0]?.message_id);
  });

  it('a completion adds its status bits to those that were there', async ({ db, a }) => {
    const unused = 1 << 10;
    await a.call(lane.completes(await a.call(lane.stores(message())), lane.partly));
    await a.call(lane.completes(await a.call(), unused));
    expect(await lane.rows(db)).toMatchObject([{ status: Status.Stored | lane.partly | unused }]);
  });

  it('a message completed twice in one call gets the status bits of both', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const both = [8, 1024].map((status) => ({ message_id: work[0]?.message_id, status }));
    expect(await a.call({ [`p_${lane.source}_completions`]: both })).toEqual([]);
    expect(await lane.rows(db)).toMatchObject([{ status: Status.Stored | 8 | 1024 }]);
  });

  it('a completion frees the rest of its stream for the same call', async ({ a }) => {
    const messages = stream(5);
    const first = await a.call(lane.stores(...messages), lane.room(2));
    expect(ids(await a.call(lane.completes(first), lane.room(2)))).toEqual(ids(messages.slice(2, 4)));
  });

  it('a call that completes a message and stores the next of its stream is handed the next', async ({
    a,
  }) => {
    const [first, second] = stream(2);
    const work = await a.call(lane.stores(first ?? message()));
    expect(await a.call(lane.completes(work), lane.stores(second ?? message()))).toMatchObject([
      { message_id: second?.message_id, flags: Flags.NewlyStored },
    ]);
  });
});

describe.each(lanes)('Releases in the %s', (lane) => {
  it('a release ends the lease and changes nothing else', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const [before] = await lane.rows(db);
    await a.call(lane.releases(work), lane.room(0));
    expect(await lane.rows(db)).toEqual([{ ...before, instance_id: null, lease_expiry: null }]);
  });

  it('a released message may be handed out again by the same call', async ({ a }) => {
    const work = await a.call(lane.stores(...stream(2)));
    expect(ids(await a.call(lane.releases(work)))).toEqual(ids(work));
  });

  it('a released message may be claimed by another instance', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    await a.call(lane.releases(work), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(work));
  });

  it('a released message is not handed out while an earlier one of its stream is held', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(2)));
    expect(await a.call(lane.releases(work.slice(1)))).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });
});

describe('An outbox message', () => {
  it.for([Status.Stored, Status.EventStored, Status.ReceptorProcessed | Status.PerspectiveProcessed])(
    'status %d does not finish an outbox message',
    async (status, { db, a }) => {
      await a.call(outbox.completes(await a.call(outbox.stores(message())), status));
      expect(await outbox.rows(db)).toHaveLength(1);
    },
  );

  it.for([Status.Published, Status.Published | Status.ReceptorProcessed])(
    'status %d finishes an outbox message',
    async (status, { db, a }) => {
      await a.call(outbox.completes(await a.call(outbox.stores(message())), status));
      expect(await outbox.rows(db)).toEqual([]);
    },
  );
});

describe('An inbox message', () => {
  it.for([Status.Stored, Status.Published, Status.ReceptorProcessed, Status.PerspectiveProcessed])(
    'status %d does not finish an inbox message',
    async (status, { db, a }) => {
      await a.call(inbox.completes(await a.call(inbox.stores(message())), status));
      expect(await inbox.rows(db)).toHaveLength(1);
    },
  );

  it.for([Status.EventStored, Status.ReceptorProcessed | Status.PerspectiveProcessed])(
    'status %d finishes an inbox message',
    async (status, { db, a }) => {
      await a.call(inbox.completes(await a.call(inbox.stores(message())), status));
      expect(await inbox.rows(db)).toEqual([]);
    },
  );

  it('an inbox message is finished when its receptor and its perspectives have reported one after the other', async ({
    db,
    a,
  }) => {
    await a.call(inbox.completes(await a.call(inbox.stores(message())), Status.ReceptorProcessed));
    await a.call(inbox.completes(await a.call(), Status.PerspectiveProcessed));
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('a failure and a later completion together finish an inbox message', async ({ db, a }) => {
    const failed = { completed_status: Status.ReceptorProcessed, retry_after_seconds: 0 };
    await a.call(inbox.fails(await a.call(inbox.stores(message())), failed));
    await a.call(inbox.completes(await a.call(), Status.PerspectiveProcessed));
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('an inbox message is not finished because its event was appended', async ({ db, a }) => {
    const work = await a.call(inbox.stores(...stream(1, { is_event: true })));
    expect(work).toMatchObject([{ status: Status.Stored | Status.EventStored }]);
    await a.call(inbox.completes(work, Status.ReceptorProcessed));
    expect(await inbox.rows(db)).toHaveLength(1);
  });
});
