// The event store outside a transaction, on PGlite: one connection, in the same process.
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionPool, Queryable } from '../../src/database/index.js';
import { EventStore, StoreAccess, SubjectKeys } from '../../src/events/index.js';
import type { LoggedEvent } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { newMessageId } from '../../src/message-id.js';
import { migrate } from '../../src/migrate/index.js';
import { eventually } from '../support/eventually.js';
import { Order, OrderPaid, paid, placed } from './shop.js';

let pglite: PGlite;
let store: EventStore;

beforeAll(async () => {
  pglite = await PGlite.create();
  const client: Queryable = {
    query: async (text, values) =>
      values === undefined ? ((await pglite.exec(text)).at(-1) ?? { rows: [] }) : pglite.query(text, values),
  };
  await migrate({ client });
  const pool: ConnectionPool = { connect: async () => ({ ...client, release: () => {} }) };
  const access = new StoreAccess({ pool, schema: 'whizbang' });
  store = new EventStore({
    access,
    keys: new SubjectKeys(access),
    sender: { service: 'orders', instanceId: newMessageId() },
    logger: silentLogger,
  });
});

afterAll(() => pglite.close());

async function versionsOf(events: AsyncIterable<{ readonly version: number }>): Promise<number[]> {
  const versions: number[] = [];
  for await (const { version } of events) versions.push(version);
  return versions;
}

describe('The event store on PGlite', () => {
  it('a stream on PGlite is read forwards and backwards, and in part', async () => {
    await store.append([placed('read'), paid('read'), paid('read')], { expectedVersion: 0 });
    expect(await versionsOf(store.stream('read'))).toEqual([1, 2, 3]);
    expect(await versionsOf(store.stream('read', { backwards: true, limit: 2 }))).toEqual([3, 2]);
    expect(await versionsOf(store.stream('read', { after: 2 }))).toEqual([3]);
  });

  it('several decisions at once on PGlite are taken on the state that each one sees', async () => {
    await store.append(placed('pay', 70));
    const pay = () =>
      store.decide(Order, 'pay', ({ status, cents }) => (status === 'placed' ? paid('pay', cents) : []));
    const receipts = await Promise.all([pay(), pay(), pay()]);
    expect(receipts.map((receipt) => receipt.receipts.length).sort()).toEqual([0, 0, 1]);
    expect(await store.load(Order, 'pay')).toEqual({
      state: { status: 'paid', cents: 70, changes: 2 },
      version: 2,
    });
  });

  it('an append on PGlite that expects another version is refused with both', async () => {
    await store.append(placed('late'));
    await expect(store.append(paid('late'), { expectedVersion: 0 })).rejects.toMatchObject({
      code: 'EXPECTED_VERSION',
      details: { expectedVersion: 0, actualVersion: 1 },
    });
  });

  it('all events on PGlite are read from a position, by type, and followed', async () => {
    const before: LoggedEvent[] = [];
    for await (const event of store.all()) before.push(event);
    const after = before.at(-1)?.position;
    await store.append([placed('log'), paid('log')]);
    expect(await versionsOf(store.all({ after }))).toEqual([1, 2]);
    expect(await versionsOf(store.all({ after, events: [OrderPaid] }))).toEqual([2]);
    const abort = new AbortController();
    const found: number[] = [];
    const following = (async () => {
      for await (const { version } of store.all({ after, follow: true, signal: abort.signal }))
        found.push(version);
    })();
    await eventually(() => expect(found).toEqual([1, 2]));
    await store.append(paid('log'));
    await eventually(() => expect(found).toEqual([1, 2, 3]));
    abort.abort();
    await following;
  });
});
