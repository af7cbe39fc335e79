// Transfers at the same time: into the same inbox, of the same ids, of the same stream, and beside a takeover.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptySchemas, migrateSchemas, Service } from '../sql/support/services.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { waitUntilBlocked } from '../support/sessions.js';
import { ids, stream, streams } from '../support/work.js';
import { begin } from './transactions.js';

const schemas = ['whizbang', 'billing', 'mail'];
let db: TestDatabase;
let services: Service[];

beforeAll(async () => {
  db = await createTestDatabase();
  await migrateSchemas(db, schemas.slice(1));
});
beforeEach(async () => {
  await emptySchemas(db, schemas);
  services = schemas.map((schema) => new Service(schema, db.pool));
});
afterAll(() => db.drop());

const [shop, billing] = [() => services[0] as Service, () => services[1] as Service];

describe('Two transfers', () => {
  it('a transfer of ids that another schema is transferring waits, and they arrive once', async () => {
    await billing().subscribe('orders');
    const sent = streams(3);
    const other = services[2] as Service;
    await shop().holds('orders', ...sent);
    await other.holds('orders', ...[...sent].reverse());
    const [first, second] = [await begin(db), await begin(db)];
    await shop()
      .over(first.client)
      .transfer(...sent);
    const waiting = other.over(second.client).transfer(...sent);
    expect(await waitUntilBlocked(db, second.pid)).toEqual([first.pid]);
    await first.query('commit');
    expect((await waiting).settled).toHaveLength(3);
    await second.query('commit');
    expect(ids(await billing().inbox())).toEqual(ids(sent));
  });

  it('a transfer delivers messages whose earlier transfer is rolled back', async () => {
    await billing().subscribe('orders');
    const sent = await shop().holds('orders', ...stream(2));
    const [first, second] = [await begin(db), await begin(db)];
    await shop()
      .over(first.client)
      .transfer(...sent);
    const waiting = shop()
      .over(second.client)
      .transfer(...sent);
    await waitUntilBlocked(db, second.pid);
    await first.query('rollback');
    expect((await waiting).settled).toEqual(ids(sent));
    await second.query('commit');
    expect(ids(await billing().inbox())).toEqual(ids(sent));
  });

  it('a second transfer of the same messages by one instance reports them lost', async () => {
    await billing().subscribe('orders');
    const sent = await shop().holds('orders', ...stream(2));
    const [first, second] = [await begin(db), await begin(db)];
    await shop()
      .over(first.client)
      .transfer(...sent);
    const waiting = shop()
      .over(second.client)
      .transfer(...sent);
    await waitUntilBlocked(db, second.pid);
    await first.query('commit');
    expect((await waiting).lost).toEqual(ids(sent));
    await second.query('commit');
    expect(ids(await billing().inbox())).toEqual(ids(sent));
  });
});

it('many transfers between three schemas deliver everything once, in order and without a deadlock', async () => {
  for (const each of services) await each.subscribe('orders');
  const senders = services.flatMap(({ schema }) => [1, 2].map(() => new Service(schema, db.pool)));
  const sent = await Promise.all(
    senders.map(async (sender) => {
      const messages: string[][] = [];
      for (let round = 0; round < 15; round++) {
        const batch = await sender.holds('orders', ...stream(5), ...streams(5));
        expect((await sender.transfer(...batch)).lost).toEqual([]);
        messages.push(ids(batch));
      }
      return messages;
    }),
  );
  for (const receiver of services) {
    const received = ids(await receiver.inbox());
    expect([...received].sort()).toEqual(sent.flat(2).sort());
    const places = new Map(received.map((id, place) => [id, place]));
    for (const batch of sent.flat()) {
      const ofStream = batch.slice(0, 5).map((id) => places.get(id) ?? -1);
      expect(ofStream).toEqual([...ofStream].sort((one, other) => one - other));
    }
  }
});
