// The demo's part of the database: a schema per service, with whizbang's tables and a few of its own. The
// verdict reads nothing else.
import type pg from 'pg';
import { migrate } from '../../src/index.js';

export interface World {
  readonly shop: string;
  readonly warehouse: string;
}

export const world: World = { shop: 'whizbang_demo_shop', warehouse: 'whizbang_demo_warehouse' };

/**
 * The demo's own tables. None has a key or a unique index, so that an effect that happens twice is seen
 * twice.
 */
const tables = ({ shop, warehouse }: World) => `
  -- What the shop's transactions have committed, written by the transaction that sent it.
  create table ${shop}.steps (message_id uuid, stream_id uuid, order_id text, step int, is_last boolean,
    is_doomed boolean, at timestamptz default clock_timestamp());
  -- What it has sent in transactions that it then rolled back.
  create table ${shop}.rolled_back (message_id uuid);
  -- The warehouse's answers, written by the shop's receptor in its transaction.
  create table ${shop}.shipped (message_id uuid, order_id text);

  -- What the receptors of the warehouse did, written in their transactions. n: in the order of doing.
  create table ${warehouse}.effects (n bigint generated always as identity, message_id uuid, stream_id uuid, step int,
    instance text, attempt int, at timestamptz default clock_timestamp());
  -- Receptors that came to their end later than their lease allows, noted outside their transactions.
  create table ${warehouse}.late (n bigint, message_id uuid, instance text);
  -- Who was killed or stalled, when, and the streams that it held then.
  create table ${warehouse}.interruptions (what text, instance text, at timestamptz, streams uuid[]);
  create index on ${warehouse}.effects (stream_id, n);
  create index on ${shop}.steps (message_id)`;

export async function createWorld(pool: pg.Pool): Promise<void> {
  await removeWorld(pool);
  await Promise.all([migrate({ pool, schema: world.shop }), migrate({ pool, schema: world.warehouse })]);
  await createTables(pool, world);
}

/** Creates the tables in schemas that are already migrated. Both may be the same schema. */
export async function createTables(pool: pg.Pool, where: World): Promise<void> {
  await pool.query(tables(where));
}

export async function removeWorld(pool: pg.Pool): Promise<void> {
  await pool.query(
    `set client_min_messages = warning; drop schema if exists ${world.shop}, ${world.warehouse} cascade`,
  );
}
