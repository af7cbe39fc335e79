// When a receiver fails: only what it fails for is held up, with the reason, and everybody else has everything, once, in order.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ids, message, stream } from '../support/work.js';
import { emptySchemas, migrateSchemas, Service } from './support/services.js';

const schemas = ['whizbang', 'billing', 'mail'];
const settled = { outcome: 'settled', error: null };
const heldBack = { outcome: 'held-back', error: null };
let db: TestDatabase;
let shop: Service;
let billing: Service;
let mail: Service;

beforeAll(async () => {
  db = await createTestDatabase();
  await migrateSchemas(db, schemas.slice(1));
  await db.pool.query(`
    create function mail.refuse() returns trigger language plpgsql as $$
    begin
      if new.event_data ? 'bad' then raise exception 'no such customer'; end if;
      return new;
    end $$;
    create trigger refuse before insert on mail.wh_inbox for each row execute function mail.refuse()`);
});
beforeEach(async () => {
  await emptySchemas(db, schemas);
  const make = (schema: string) => new Service(schema, db.pool);
  [shop, billing, mail] = schemas.map(make) as [Service, Service, Service];
  for (const receiver of [billing, mail]) await receiver.subscribe('orders');
});
afterAll(() => db.drop());

const refusedByMail = {
  outcome: 'failed',
  error: { schema: 'mail', sqlstate: 'P0001', message: 'no such customer' },
};

describe('Receivers that fail', () => {
  it('a message that one receiver refuses reaches the others, and holds back what follows it', async () => {
    const streamId = randomUUID();
    const [good, bad, behind, other] = [
      message({ stream_id: streamId }),
      message({ stream_id: streamId, event_data: { bad: 1 } }),
      message({ stream_id: streamId }),
      message({ stream_id: randomUUID() }),
    ];
    const all = [good, bad, behind, other];
    await shop.holds('orders', ...all);
    await expect(shop.transfer(...all)).rejects.toThrow('no such customer');
    expect(await shop.transferEach(...all)).toEqual([settled, refusedByMail, heldBack, settled]);
    expect(ids(await billing.inbox())).toEqual(ids(all));
    expect(ids(await mail.inbox())).toEqual(ids([good, other]));
    expect(await shop.outbox()).toEqual(ids([bad, behind]));
  });

  it('a receiver that is mended gets the rest in order, and nobody gets anything twice', async () => {
    const streamId = randomUUID();
    const [bad, behind] = [
      message({ stream_id: streamId, event_data: { bad: 1 } }),
      message({ stream_id: streamId }),
    ];
    await shop.holds('orders', bad, behind);
    expect(await shop.transferEach(bad, behind)).toEqual([refusedByMail, heldBack]);
    await db.pool.query('alter table mail.wh_inbox disable trigger refuse');
    try {
      expect(await shop.transfer(bad, behind)).toEqual({ settled: ids([bad, behind]), lost: [] });
    } finally {
      await db.pool.query('alter table mail.wh_inbox enable trigger refuse');
    }
    for (const receiver of [billing, mail]) expect(ids(await receiver.inbox())).toEqual(ids([bad, behind]));
  });

  it('a receiver that fails for everything keeps nothing from the other receivers', async () => {
    const sent = await shop.holds('orders', ...stream(2), message());
    const [first, second, third] = sent;
    await db.pool.query('alter table mail.wh_subscriptions rename to gone');
    try {
      expect(await shop.transferEach(...sent)).toMatchObject([
        { outcome: 'failed', error: { schema: 'mail', sqlstate: '42P01' } },
        heldBack,
        { outcome: 'failed', error: { schema: 'mail' } },
      ]);
    } finally {
      await db.pool.query('alter table mail.gone rename to wh_subscriptions');
    }
    expect(ids(await billing.inbox())).toEqual(ids([first, second, third] as typeof sent));
    expect(await shop.outbox()).toEqual(ids(sent));
  });
});

describe('Transferred one by one', () => {
  it('a command that nobody listens to fails, and nothing behind it in its stream is delivered', async () => {
    const streamId = randomUUID();
    const metadata = { kind: 'command' };
    const [lonely, behind] = [
      message({ stream_id: streamId, metadata }),
      message({ stream_id: streamId, metadata }),
    ];
    const other = message({ metadata });
    await shop.holds('orders', { ...lonely, destination: 'nobody' } as typeof lonely, behind, other);
    expect(await shop.transferEach(lonely, behind, other)).toMatchObject([
      { outcome: 'failed', error: { sqlstate: 'WB004', message: 'no service listens to nobody' } },
      heldBack,
      settled,
    ]);
    expect(ids(await billing.inbox())).toEqual(ids([other]));
  });

  it('a transfer of messages that the instance does not hold delivers nothing and reports them lost', async () => {
    const sent = await shop.holds('orders', ...stream(2));
    await shop.losesEverything();
    const lost = { outcome: 'lost', error: null };
    expect(await shop.transferEach(...sent, message())).toEqual([lost, lost, lost]);
    expect(await billing.inbox()).toEqual([]);
    expect(await shop.transferEach()).toEqual([]);
  });

  it('a transfer that fails does not lengthen the leases of its messages', async () => {
    const sent = await shop.holds('orders', message({ event_data: { bad: 1 } }));
    const leases = async () => (await db.pool.query('select lease_expiry from wh_outbox')).rows;
    const before = await leases();
    await shop.transferEach(...sent);
    expect(await leases()).toEqual(before);
  });
});
