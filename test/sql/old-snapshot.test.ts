// Dead rows stay while an old snapshot is open. A call must not read more of them the longer that lasts.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';
import {
  type Instance,
  instance,
  type Lane,
  lanes,
  message,
  streams,
  type WorkRow,
} from '../support/work.js';
import { capture } from './support/captured-plans.js';

const batch = 50;
const room = (lane: Lane) => lane.room(batch);

/** Plain inserts, handed out with long leases, and completed. The floors may move with every call. */
async function traffic(db: TestDatabase, lane: Lane, a: Instance, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await lane.insertPlain(db.pool, ...streams(batch));
    const items = await a.call(room(lane));
    await floorsMayMove(db);
    await a.call(lane.completes(items), room(lane));
    await floorsMayMove(db);
  }
}

async function floorsMayMove(db: TestDatabase): Promise<void> {
  await db.pool.query(
    `update wh_lanes set moved_at = clock_timestamp() - interval '1 second', swept_at = clock_timestamp()`,
  );
}

/** An instance over its own connection, in a database without vacuum in which a snapshot is open. */
async function openBesideSnapshot(db: TestDatabase): Promise<{ a: Instance; client: pg.Client }> {
  for (const table of ['wh_outbox', 'wh_inbox', 'wh_active_streams', 'wh_lanes']) {
    await db.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  const client = await db.connect();
  const a = instance(db, 'a')
    .over(client)
    .with({ p_max_outbox_items: 0, p_max_inbox_items: 0, p_lease_seconds: 300 });
  const snapshot = await db.connect();
  await snapshot.query('begin isolation level repeatable read');
  await snapshot.query('select from wh_outbox');
  return { a, client };
}

describe.each(lanes)('Beside an old snapshot, in the $source', (lane) => {
  it('a call that moves the floors reads no more after much traffic than after little', async () => {
    await using db = await createDatabaseOnOwnServer();
    const { a, client } = await openBesideSnapshot(db);

    // Of each index, as one call that completes and moves the floors reads it.
    const pagesByIndex = async () => {
      await lane.insertPlain(db.pool, ...streams(batch));
      const items = await a.call(room(lane));
      await floorsMayMove(db);
      const { scans } = await capture(client, () => a.call(lane.completes(items), room(lane)));
      const byIndex = new Map<string, number>();
      for (const { table, index = table, pages } of scans) {
        byIndex.set(index, (byIndex.get(index) ?? 0) + pages);
      }
      return byIndex;
    };
    await traffic(db, lane, a, 4);
    const early = await pagesByIndex();
    await traffic(db, lane, a, 60);
    const late = await pagesByIndex();
    // The four indexes that are searched from a floor. The primary keys get deeper, and wh_lanes has as many dead rows as moves.
    const searched = ['leased', 'free', 'blocked'].map((index) => `wh_active_streams_${index}`);
    for (const index of [...searched, `wh_${lane.source}_unadmitted`]) {
      expect(early.get(index), index).toBeGreaterThan(0);
      expect(late.get(index), index).toBeLessThan(2 * (early.get(index) ?? 0) + 20);
    }
  });

  it('a call that goes on with its streams does not read through the dead versions of their rows', async () => {
    await using db = await createDatabaseOnOwnServer();
    const { a, client } = await openBesideSnapshot(db);
    const ids = Array.from({ length: batch }, () => randomUUID());
    let items: WorkRow[] = [];
    const goOn = async (leaseSeconds: number) => {
      await lane.insertPlain(db.pool, ...ids.map((id) => message({ stream_id: id })));
      items = await a.call(lane.completes(items), room(lane), { p_lease_seconds: leaseSeconds });
      expect(items).toHaveLength(batch);
    };
    // Each lease is so much longer than the last that the row of the stream is written.
    const versions = 40;
    for (let version = 0; version < versions; version++) await goOn(300 + 2 * version);

    // Now and then PostgreSQL merges entries of the key, and until a row is written again its versions are read in their order.
    const pages: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      await goOn(300 + 2 * (versions + turn));
      const { scans } = await capture(client, () => goOn(300));
      const looks = scans.filter(({ index }) => index === 'wh_active_streams_pkey');
      expect(looks.length).toBeGreaterThan(3);
      pages.push(looks.reduce((sum, look) => sum + look.pages, 0));
    }
    // A few pages of the index and one of the table, for each look at a stream.
    expect(Math.min(...pages)).toBeLessThan(20 * batch);
  });
});
