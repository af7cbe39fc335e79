// A server with no room left, as its clients see it: a trigger refuses what is written, with the SQLSTATE of a full disk.
import { describe, expect, it } from 'vitest';
import { createWhizbang, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { patientTransport } from '../support/patient-transport.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

async function fillDisk(db: TestDatabase, table: string): Promise<void> {
  await db.pool.query(`
    create or replace function disk_is_full() returns trigger language plpgsql as $$
    begin raise exception using errcode = '53100', message = 'could not extend file: No space left on device'; end $$;
    create trigger full_disk before insert or update or delete on ${table} execute function disk_is_full()`);
}

async function makeRoom(db: TestDatabase): Promise<void> {
  await db.pool.query('drop function disk_is_full cascade');
}

const exhausted = {
  code: 'DATABASE_EXHAUSTED',
  retryable: false,
  details: { sqlState: '53100' },
  hint: expect.stringContaining('no disk, memory or connections left'),
};

describe('While the disk is full', () => {
  it('sending while the disk is full fails with DATABASE_EXHAUSTED, in a transaction too', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await fillDisk(db, 'wh_outbox');
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject(exhausted);
    const tx = await db.connect();
    await tx.query('begin');
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }), { tx })).rejects.toMatchObject(exhausted);
    await tx.query('rollback');
    await makeRoom(db);
    expect((await db.pool.query('select from wh_outbox')).rowCount).toBe(0);
  });

  it('messages to deliver wait while the disk is full, at no cost of attempts', async () => {
    await using db = await createTestDatabase();
    const attempts: number[] = [];
    const onPlaced = receptor(OrderPlaced, (_, { attempt }) => void attempts.push(attempt));
    await using shop = service(db, {
      receptors: [onPlaced],
      retry: { attempts: 1 },
      transport: patientTransport(),
    });
    await shop.start();
    await fillDisk(db, 'wh_inbox');
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(shop.readiness).toEqual({ database: true, transport: false }));
    await makeRoom(db);
    await eventually(() => expect(attempts).toEqual([1]));
    await eventually(() => expect(shop.readiness).toEqual({ database: true, transport: true }));
    expect(await deadLetters(db)).toEqual([]);
  });

  it('a report is kept while the disk is full, and the database is not ready', async () => {
    await using db = await createTestDatabase();
    let runs = 0;
    const onPlaced = receptor(OrderPlaced, { transaction: false }, async () => {
      runs++;
      await fillDisk(db, 'wh_inbox');
    });
    await using shop = service(db, { receptors: [onPlaced] });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(() => expect(shop.readiness.database).toBe(false));
    await makeRoom(db);
    await eventually(async () => expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0));
    await eventually(() => expect(shop.readiness).toEqual({ database: true, transport: true }));
    expect(runs).toBe(1);
  });
});

describe('A server with no connection left', () => {
  it('sending to a server without a free connection fails with the SQLSTATE and hint for that', async () => {
    await using db = await createTestDatabase();
    const role = `${db.name}_crowd`;
    await db.pool.query(`create role ${role} login password 'x' connection limit 0`);
    try {
      const url = new URL(db.connectionString);
      url.username = role;
      url.password = 'x';
      const connectionString = url.href;
      await using shop = createWhizbang({ service: 'shop', connectionString, logger: silentLogger });
      await expect(shop.publish(OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
        retryable: true,
        details: { sqlState: '53300' },
        hint: expect.stringContaining('max_connections'),
      });
    } finally {
      await db.pool.query(`drop role ${role}`);
    }
  });
});
