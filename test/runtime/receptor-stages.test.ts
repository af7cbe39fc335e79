// What is read, written and run for a message, by the number of its receptors and by the stages that it has passed.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createWhizbang, inProcessTransport, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, endLeases } from './arrivals.js';
import { noting, recordsIn } from './receptor-records.js';
import { OrderPlaced, service } from './service.js';

describe('A message with one receptor', () => {
  it('a message with one receptor neither reads nor writes records of receptors, though it fails', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    await db.pool.query('alter function wh_receptor_records(uuid) rename to away');
    const retry = { firstDelaySeconds: 0.02 };
    const only = make('only', { retry }, (attempt) => (attempt === 1 ? new Error('no') : undefined));
    await using shop = service(db, { receptors: [only], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(() => expect(runs).toEqual(['only 1', 'only 2']));
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(await recordsIn(db)).toEqual([]);
  });
});

describe('A message that is handed out with its receptors done', () => {
  it.each([1, 2])(
    'a message whose receptors are done is finished without running them, where there are %d',
    async (count) => {
      await using db = await createTestDatabase();
      const { runs, make } = noting();
      const done = await arrive(db, 'OrderPlaced', { orderId: 'a' });
      await db.pool.query('update wh_inbox set status = status | 8 where message_id = $1', [done]);
      await arrive(db, 'OrderPlaced', { orderId: 'b' });
      const receptors = ['mail', 'print'].slice(0, count).map((name) => make(name));
      await using shop = service(db, { receptors, transport: inProcessTransport() });
      await shop.start();
      await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
      expect(runs).toEqual(['mail 1', 'print 1'].slice(0, count)); // of the other message
    },
  );
});

describe('The record of a receptor', () => {
  it('the record of a receptor says when its last attempt began and when it was done', async () => {
    await using db = await createTestDatabase();
    const { make } = noting();
    const slow = receptor(OrderPlaced, { name: 'slow' }, () => pause(200));
    const loose = receptor(OrderPlaced, { name: 'loose', transaction: false }, () => pause(200));
    await using shop = service(db, {
      receptors: [slow, loose, make('quick')],
      transport: inProcessTransport(),
    });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(async () => expect(await recordsIn(db)).toHaveLength(3));
    const { rows } = await db.pool.query<{ name: string; ms: number; after: boolean }>(`
      select receptor_name as name, extract(epoch from processed_at - started_at) * 1000 as ms,
        started_at >= lag(started_at) over (order by processed_at) as after
      from wh_receptor_processing order by started_at`);
    expect(rows.map(({ name }) => name)).toEqual(['slow', 'loose', 'quick']);
    for (const { ms } of rows.slice(0, 2)) expect(Number(ms)).toBeGreaterThan(190);
  });
});

describe('A receptor that fails after its lease was lost', () => {
  it('a receptor that fails after its lease was lost changes nothing of what its successor has reported', async () => {
    await using db = await createTestDatabase();
    let starts = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const ships: number[] = [];
    const make = () =>
      createWhizbang({
        service: 'shop',
        connectionString: db.connectionString,
        logger: silentLogger,
        leaseSeconds: 60,
        renewSeconds: 20,
        receptors: [
          receptor(OrderPlaced, { name: 'mail', transaction: false }, async () => {
            if (++starts > 1) return;
            await held;
            throw new Error('too late');
          }),
          receptor(OrderPlaced, { name: 'ship' }, (_, { attempt }) => void ships.push(attempt)),
        ],
      });
    await using late = make();
    await late.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(() => expect(starts).toBe(1));
    await using other = make();
    await other.start();
    // It may be quicker, and get the message again: once more, then.
    await eventually(async () => {
      await endLeases(db, late);
      expect(ships).toEqual([1]);
    });
    release();
    await late.stop();
    expect(await recordsIn(db)).toEqual([
      { name: 'mail', state: 'done', attempts: 0, error: null },
      { name: 'ship', state: 'done', attempts: 0, error: null },
    ]);
    expect(
      (await db.pool.query('select 1 from wh_inbox union all select 1 from wh_dead_letters')).rows,
    ).toEqual([]);
  });
});
