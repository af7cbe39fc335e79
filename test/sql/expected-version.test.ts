import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { contents, ids, it, lanes, message, type NewMessage, Status, stream } from '../support/work.js';

const event = (stream_id: string, expected_version?: number): NewMessage =>
  message({ stream_id, is_event: true, ...(expected_version === undefined ? {} : { expected_version }) });
const versionOf = async (db: TestDatabase, stream_id: string) =>
  Number(
    (
      await db.pool.query('select max(version) as version from wh_event_store where stream_id = $1', [
        stream_id,
      ])
    ).rows[0].version,
  );

describe.each(lanes)('An expected version in the %s', (lane) => {
  it('the expected version 0 is right for a new stream', async ({ db, a }) => {
    const stream_id = crypto.randomUUID();
    expect(await a.call(lane.stores(event(stream_id, 0)))).toHaveLength(1);
    expect(await versionOf(db, stream_id)).toBe(1);
  });

  it('the version of the stream before the append is the right expected version', async ({ db, a }) => {
    const stream_id = crypto.randomUUID();
    await a.call(lane.stores(event(stream_id), event(stream_id)));
    await a.call(lane.stores(event(stream_id, 2)));
    expect(await versionOf(db, stream_id)).toBe(3);
  });

  it('each of several events of one call may give an expected version', async ({ db, a }) => {
    const stream_id = crypto.randomUUID();
    await a.call(
      lane.stores(event(stream_id, 0), event(stream_id, 1), event(stream_id), event(stream_id, 3)),
    );
    expect(await versionOf(db, stream_id)).toBe(4);
  });

  it.for([0, 1, 3, 17])(
    'the expected version %d is refused for a stream at 2, with both versions in the error',
    async (expected, { a }) => {
      const stream_id = crypto.randomUUID();
      await a.call(lane.stores(event(stream_id), event(stream_id)));
      const error = await a.call(lane.stores(event(stream_id, expected))).catch((raised) => raised);
      expect(error.code).toBe('WB002');
      expect(JSON.parse(error.detail)).toEqual({ stream_id, expected_version: expected, actual_version: 2 });
    },
  );

  it('one wrong expected version refuses the whole call', async ({ db, a }) => {
    const [right, wrong] = [crypto.randomUUID(), crypto.randomUUID()];
    const before = await contents(db);
    await expect(
      a.call(lane.stores(event(right, 0), event(wrong, 0), event(wrong, 7), ...stream(2))),
    ).rejects.toMatchObject({ code: 'WB002' });
    expect(await contents(db)).toEqual(before);
  });

  it('a wrong expected version leaves completions of the same call undone', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const before = await contents(db);
    await expect(
      a.call(lane.completes(work), lane.stores(event(crypto.randomUUID(), 5))),
    ).rejects.toMatchObject({ code: 'WB002' });
    expect(await contents(db)).toEqual(before);
  });

  it('an expected version is checked also when the instance has no room', async ({ db, a }) => {
    const stream_id = crypto.randomUUID();
    await a.call(lane.stores(event(stream_id, 0)), lane.room(0));
    expect(await versionOf(db, stream_id)).toBe(1);
    await expect(a.call(lane.stores(event(stream_id, 0)), lane.room(0))).rejects.toMatchObject({
      code: 'WB002',
    });
    expect(await a.call()).toMatchObject([{ status: Status.Stored | Status.EventStored }]);
  });

  it('an expected version counts events that were plainly inserted before', async ({ db, a }) => {
    const stream_id = crypto.randomUUID();
    const plain = event(stream_id);
    await lane.insertPlain(db.pool, plain);
    const next = event(stream_id, 1);
    const work = [...(await a.call(lane.stores(next))), ...(await a.call())];
    expect(ids(work)).toEqual(ids([plain, next]));
  });

  it('an expected version is not checked again when the call is sent again', async ({ db, a }) => {
    const [stream_id, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const again = lane.stores(event(stream_id, 0), event(stream_id, 1), event(other, 0));
    await a.call(again);
    expect(await a.call(again)).toEqual([]);
    expect(await versionOf(db, stream_id)).toBe(2);
  });
});
