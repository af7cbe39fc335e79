// What the page does: dead letters are put back in order or discarded, and it is on record who did it.
import { describe, expect } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { TestDatabase } from '../support/database.js';
import { type Instance, inbox, it, message, outbox, stream } from '../support/work.js';
import { ask, open } from './support/pages.js';

async function die(a: Instance, ...messages: ReturnType<typeof stream>): Promise<string[]> {
  const items = await a.call(inbox.stores(...messages), outbox.room(0));
  await a.call(inbox.fails(items, { error: 'broken', dead_letter: true }), outbox.room(0), inbox.room(0));
  return messages.map(({ message_id: id }) => id);
}

const waiting = async (db: TestDatabase) =>
  (await db.pool.query('select message_id from wh_inbox order by sequence_order')).rows.map(
    ({ message_id: id }) => id,
  );

describe('Actions of the page', () => {
  it('dead letters that are chosen one by one are put back in the order in which they died', async ({
    db,
    a,
  }) => {
    const ids = await die(a, ...stream(4));
    const page = open(db, { allowActions: true });
    const body = { ids: ids.toReversed() };
    const dry = await ask(page, 'api/retry-dead-letters', { body: { ...body, dryRun: true } });
    expect(dry.body.letters).toHaveLength(4);
    expect(await waiting(db)).toEqual([]);
    const { body: done } = await ask(page, 'api/retry-dead-letters', { body });
    expect(done.letters.map(({ messageId }: { messageId: string }) => messageId)).toEqual(ids);
    expect(await waiting(db)).toEqual(ids);
    expect((await ask(page, 'api/retry-dead-letters', { body })).body.letters).toEqual([]);
  });

  it('dead letters of a type or a stream are discarded, and those of others stay', async ({ db, a }) => {
    const [first] = await die(a, message({ event_type: 'Pay' }));
    const [second, third] = await die(a, ...stream(2, { event_type: 'Ship' }));
    const page = open(db, { allowActions: true });
    const left = async () =>
      (await ask(page, 'api/dead-letters')).body.letters.map(
        ({ messageId }: { messageId: string }) => messageId,
      );
    expect(
      (await ask(page, 'api/discard-dead-letters', { body: { type: 'Pay' } })).body.letters,
    ).toHaveLength(1);
    expect(await left()).toEqual([third, second]);
    expect((await ask(page, 'api/discard-dead-letters', { body: { type: 'Pay' } })).body.letters).toEqual([]);
    expect((await ask(page, 'api/discard-dead-letters', { body: {} })).status).toBe(400);
    expect(await left()).not.toContain(first);
  });

  it('a message that waits for its time is made due', async ({ db, a }) => {
    const [item] = await a.call(inbox.stores(message()), outbox.room(0));
    await a.call(inbox.fails([item as never], { error: 'x', retry_after_seconds: 600 }), inbox.room(0));
    const page = open(db, { allowActions: true });
    const body = { id: item?.message_id };
    expect((await ask(page, 'api/retry-now', { body })).body).toEqual({ done: true });
    expect((await ask(page, 'api/retry-now', { body })).body).toEqual({ done: false });
  });

  it('a message is given up with a reason, and its stream goes on', async ({ db, a }) => {
    const [first, second] = await a.call(inbox.stores(...stream(2)), outbox.room(0));
    const page = open(db, { allowActions: true });
    const body = { id: first?.message_id, reason: 'ticket 4711' };
    expect((await ask(page, 'api/give-up', { body })).body).toEqual({ done: true });
    expect((await ask(page, 'api/give-up', { body })).body).toEqual({ done: false });
    expect(await waiting(db)).toEqual([second?.message_id]);
    const { rows } = await db.pool.query('select error from wh_dead_letters');
    expect(rows[0].error).toContain('ticket 4711');
  });

  it('a stream and an instance are released, by whoever holds them', async ({ db, a }) => {
    await a.call(inbox.stores(...stream(1, { stream_id: streamIdOf('order-1') }), message()), outbox.room(0));
    const page = open(db, { allowActions: true });
    const released = async (name: string, body: object) =>
      (await ask(page, `api/${name}`, { body })).body.done;
    expect(await released('release-stream', { stream: 'order-1' })).toBe(true);
    expect(await released('release-stream', { stream: 'order-1' })).toBe(false);
    expect(await released('release-instance', { instance: a.id })).toBe(true);
    expect(await released('release-instance', { instance: a.id })).toBe(false);
  });

  it('a type, a stream and the intake are paused, shown in the overview, and resumed', async ({ db }) => {
    const page = open(db, { allowActions: true, token: undefined, authorize: () => 'ann' });
    const headers = { origin: 'http://ops.example.com', host: 'ops.example.com' };
    const act = async (name: string, body: object) =>
      (await ask(page, `api/${name}`, { headers, body })).body.done;
    const shown = async () => (await ask(page, 'api/overview', { headers })).body.pauses;
    const targets = [{ type: 'Pay' }, { stream: 'order-1' }, { intake: true }];
    for (const target of targets) {
      expect(await act('pause', { ...target, reason: 'a test' })).toBe(true);
      expect(await act('pause', target)).toBe(false);
    }
    expect(await shown()).toMatchObject([
      { kind: 'type', name: 'Pay', who: 'ann', reason: 'a test' },
      { kind: 'stream', name: streamIdOf('order-1') },
      { kind: 'intake', name: '' },
    ]);
    const { body } = await ask(page, 'api/operations', { headers });
    expect(body.pauses).toHaveLength(3);
    expect(body.operations).toMatchObject([{ operation: 'pause', target: 'intake', who: 'ann' }, {}, {}]);
    for (const target of targets) {
      expect(await act('resume', target)).toBe(true);
      expect(await act('resume', target)).toBe(false);
    }
    expect(await shown()).toEqual([]);
    for (const wrong of [{}, { type: 'Pay', intake: true }, { intake: false }, { type: '' }])
      expect((await ask(page, 'api/pause', { headers, body: wrong })).status).toBe(400);
  });

  it('every action is logged and on record with who did what to what, and a dry run is not', async ({
    db,
    a,
  }) => {
    const ids = await die(a, ...stream(1));
    const told: object[] = [];
    const logger = { ...silentLogger, info: (facts: object) => void told.push(facts) };
    const page = open(db, { allowActions: true, token: undefined, authorize: () => 'ann', logger });
    const headers = { origin: 'http://ops.example.com', host: 'ops.example.com' };
    await ask(page, 'api/retry-dead-letters', { headers, body: { ids, dryRun: true } });
    expect(told).toEqual([]);
    await ask(page, 'api/retry-dead-letters', { headers, body: { ids } });
    expect(told).toMatchObject([{ who: 'ann', operation: 'retry-dead-letters', schema: 'whizbang', ids }]);
    const { rows } = await db.pool.query('select who, target from wh_operations');
    expect(rows).toEqual([{ who: 'ann', target: `message ${ids[0]}` }]);
  });
});
