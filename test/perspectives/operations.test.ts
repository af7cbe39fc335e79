import { describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession } from '../support/sessions.js';
import { orders, revenue } from './support/orders.js';
import { fragileOrders, fragileRevenue } from './support/poison.js';

const long = { timeoutSeconds: 60 };

describe('perspectives.status', () => {
  it('status says of a perspective that has caught up that nothing is left', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    const receipt = await shop.events.append([placed('a'), paid('a')]);
    await shop.model(orders).waitFor(receipt, long);
    await shop.model(revenue).waitFor(receipt, long);
    const done = {
      version: 1,
      build: 1,
      state: 'live',
      isPaused: false,
      lagEvents: 0,
      lagSeconds: 0,
      held: 0,
    };
    await eventually(async () =>
      expect(await shop.perspectives.status()).toMatchObject([
        { name: 'orders', ...done, secondsLeft: 0, cause: null },
        { name: 'revenue', ...done, secondsLeft: 0, cause: null },
      ]),
    );
  });

  it('status says how far a perspective is behind, and that no running instance has its code', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a')), long);
    await shop.stop();
    await using other = service(db);
    for (let i = 0; i < 5; i++) await other.events.append([placed(`b${i}`), paid(`b${i}`)]);
    const [status] = await other.perspectives.status();
    expect(status).toMatchObject({ lagEvents: 10, cause: 'no running instance has its code, orders@1' });
    expect(status?.lagSeconds).toBeGreaterThan(0);
    await db.pool.query('update wh_perspectives set is_paused = true');
    expect(await other.perspectives.status()).toMatchObject([{ isPaused: true, cause: 'it is paused' }]);
  });

  it('status says how much of the history is read while a perspective is built', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    for (let i = 0; i < 10; i++) await shop.events.append(placed(`a${i}`));
    await shop.start();
    await eventually(async () => expect((await shop.perspectives.status())[0]?.state).toBe('live'));
    // As it was in the middle of its sweep.
    await db.pool.query(`update wh_perspectives set state = 'building', is_paused = true`);
    await db.pool.query(
      'update wh_perspective_bookmarks set swept = (select started_high / 2 from wh_perspectives)',
    );
    await db.pool.query('update wh_perspectives set is_paused = false, code = $1', ['orders@1']);
    const { rows } = await db.pool.query(
      `select wh_why_behind(p, (wh_perspective_lag(p)).percent, 0, null) as cause, (wh_perspective_lag(p)).events::int from wh_perspectives p`,
    );
    expect(rows).toEqual([
      { cause: 'it is being built, and 50 % of the history is read', events: expect.any(Number) },
    ]);
  });

  it('status names the session whose open transaction has appended', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a')), long);
    const { client, pid } = await openSession(db);
    await client.query('begin');
    await shop.events.append(placed('b'), { tx: client });
    await eventually(async () => {
      const [status] = await shop.perspectives.status();
      expect(status?.cause).toMatch(
        new RegExp(`^the session ${pid} has appended events and its transaction is open for \\d+ s$`),
      );
    });
    await client.query('commit');
    await eventually(async () => expect((await shop.perspectives.status())[0]?.cause).toBeNull());
  });
});

describe('what is held', () => {
  it('a held stream is shown with its event and error, and goes on when it is cured and retried', async () => {
    await using db = await createTestDatabase();
    const cure = { isCured: false };
    const fragile = fragileOrders(cure);
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    const receipt = await shop.events.append([placed('a'), paid('a', 13), paid('a', 2)]);
    await expect(shop.model(fragile).waitFor(receipt, long)).rejects.toThrow();
    const [held, ...others] = await shop.perspectives.held(fragile);
    expect(others).toEqual([]);
    expect(held).toMatchObject({ streamId: streamIdOf('a'), key: null, version: 2, event: 'OrderPaid' });
    expect(held?.error).toContain('13 is not a price');
    expect([held?.since, held?.retryAt]).toEqual([expect.any(Date), expect.any(Date)]);
    expect(held?.attempts).toBeGreaterThan(0);
    expect(await shop.perspectives.status()).toMatchObject([
      { held: 1, cause: '1 stream is held after a failure' },
    ]);
    await db.pool.query('update wh_perspective_checkpoints set retry_at = null');
    cure.isCured = true;
    await shop.perspectives.retry(fragile, 'a');
    await eventually(async () => expect(await shop.model(fragile).get('a')).toEqual({ paid: 2, sum: 15 }));
    await eventually(async () => expect(await shop.perspectives.held('fragile')).toEqual([]));
  });

  it('an event that is skipped is left out, also on reading, and is kept with who, when and why', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileOrders({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    const receipt = await shop.events.append([placed('a'), paid('a', 13)]);
    await expect(shop.model(fragile).waitFor(receipt, long)).rejects.toThrow();
    const wrong = { version: 1, reason: 'ticket 4711' };
    await expect(shop.perspectives.skip(fragile, 'a', wrong)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('is held at version 2'),
    });
    await shop.perspectives.skip(fragile, 'a', { version: 2, reason: 'ticket 4711' });
    await shop.model(fragile).waitFor(receipt, long);
    expect(await shop.model(fragile).get('a', { atLeast: receipt })).toEqual({ paid: 0, sum: 0 });
    const atLeast = await shop.events.append(paid('a', 3));
    expect(await shop.model(fragile).get('a', { atLeast })).toEqual({ paid: 1, sum: 3 });
    await shop.model(fragile).waitFor(atLeast, long);
    expect(await shop.model(fragile).get('a')).toEqual({ paid: 1, sum: 3 });
    const { rows } = await db.pool.query('select skipped from wh_perspective_checkpoints');
    expect(rows).toMatchObject([
      {
        skipped: [
          { version: 2, event: 'OrderPaid', reason: 'ticket 4711', who: 'shop', at: expect.any(String) },
        ],
      },
    ]);
  });

  it('a held model of a key is skipped by its key', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileRevenue({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    await shop.events.append([paid('a', 1), paid('a', 13), paid('a', 2)]);
    await eventually(async () =>
      expect(await shop.perspectives.held(fragile)).toMatchObject([{ key: 'small', version: 2 }]),
    );
    await shop.perspectives.skip(fragile, 'small', { version: 2, reason: 'a test' });
    await eventually(async () => expect(await shop.model(fragile).get('small')).toEqual({ orders: 2 }));
  });

  it('a failure that is reported after its event was skipped does not hold it again', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileOrders({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    const receipt = await shop.events.append([placed('a'), paid('a', 13)]);
    await expect(shop.model(fragile).waitFor(receipt, long)).rejects.toThrow();
    await shop.stop();
    const [{ failed_event_id: id } = { failed_event_id: '' }] = (
      await db.pool.query('select failed_event_id from wh_perspective_checkpoints')
    ).rows as { failed_event_id: string }[];
    await using operator = service(db);
    await operator.perspectives.skip('fragile', 'a', { version: 2, reason: 'a test' });
    const hold = {
      stream_id: streamIdOf('a'),
      last_version: 1,
      failed_version: 2,
      failed_event_id: id,
      error: 'late',
    };
    await db.pool.query(`select wh_hold_models('fragile@1', $1, null, null, null)`, [JSON.stringify([hold])]);
    const { rows } = await db.pool.query('select last_version, attempts from wh_perspective_checkpoints');
    expect(rows).toEqual([{ last_version: '2', attempts: 0 }]);
  });

  it('what is not held, and what does not exist, is refused by name', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    const { perspectives } = shop;
    const refusal = (message: string) => ({ message: expect.stringContaining(message) });
    await expect(perspectives.retry(orders, 'a')).rejects.toMatchObject(refusal('not held in orders@1'));
    await expect(perspectives.retry('nothing', 'a')).rejects.toMatchObject(
      refusal('there is no such perspective'),
    );
    await expect(perspectives.held(revenue)).rejects.toMatchObject(
      refusal('there is no perspective revenue@1'),
    );
    const none = { version: 1, reason: ' ' };
    await expect(perspectives.skip(orders, 'a', none)).rejects.toMatchObject({
      details: { option: 'reason' },
    });
    const zero = { version: 0, reason: 'x' };
    await expect(perspectives.skip(orders, 'a', zero)).rejects.toMatchObject({
      details: { option: 'version' },
    });
  });
});
