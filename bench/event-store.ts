// An event store in a database of its own, for the questions about events. In: the bench server.
// Out: a store that questions append to, tick and read. It throws when a tick does not seal what was appended.

import type pg from 'pg';
import { tick } from '../src/coordinator/event-functions.js';
import { timed } from './measure/call-costs.js';
import { messageSource, type NextBatch } from './messages.js';
import type { BenchDatabase, BenchServer } from './server.js';

const insertEvents = `
  insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data, metadata)
  select message_id, stream_id, 1, event_type, 'Order', event_data, metadata
  from jsonb_to_recordset(($1::text)::jsonb) as m(
    message_id uuid, stream_id uuid, event_type text, event_data jsonb, metadata jsonb)`;

export class BenchEventStore {
  readonly database: BenchDatabase;
  readonly client: pg.Client;
  readonly #nextBatch: NextBatch = messageSource('own');

  private constructor(database: BenchDatabase, client: pg.Client) {
    this.database = database;
    this.client = client;
  }

  static async open(server: BenchServer): Promise<BenchEventStore> {
    const database = await server.createMigratedDatabase();
    return new BenchEventStore(database, await database.connect());
  }

  /** Removes all that ticks need of an append: this is what the store was before them. */
  async withoutTicks(): Promise<void> {
    await this.client.query(`
      drop view wh_perspective_positions, wh_events;
      alter table wh_event_store drop column transaction_id;
      drop index wh_event_store_sequence;
      create index wh_event_store_sequence on wh_event_store (sequence_number)`);
  }

  /** Appends a batch as it comes from a program, in one transaction. Returns the milliseconds. */
  async append(count: number): Promise<number> {
    const batch = this.#nextBatch(count);
    const [, milliseconds] = await timed(() => this.client.query(insertEvents, [JSON.stringify(batch)]));
    return milliseconds;
  }

  /** Fills the store quickly, each event in a stream of its own. One in `every` has the type Rare. */
  async fill(count: number, every = Number.MAX_SAFE_INTEGER, client = this.client): Promise<void> {
    await client.query(
      `insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
       select gen_random_uuid(), gen_random_uuid(), 1, case when n % $2::bigint = 0 then 'Rare' else 'Common' || n % 5 end,
         'Order', jsonb_build_object('text', repeat('x', 300))
       from generate_series(1, $1::int) n`,
      [count, every],
    );
  }

  /** Milliseconds of a tick that has to seal so many events. */
  async tick(events: number): Promise<number> {
    const before = await this.#sealed();
    const [, milliseconds] = await timed(() => tick(this.client, 'whizbang'));
    const sealed = (await this.#sealed()) - before;
    if (sealed !== events) throw new Error(`a tick sealed ${sealed} events instead of ${events}`);
    return milliseconds;
  }

  async #sealed(): Promise<number> {
    const { rows } = await this.client.query<{ sealed: string }>(
      'select coalesce(sum(events), 0) as sealed from (select events from wh_event_ticks order by tick desc limit 1000) t',
    );
    return Number(rows[0]?.sealed);
  }

  /** The state after an autovacuum and a checkpoint, so that neither happens inside the measurement. */
  async settle(): Promise<void> {
    await this.client.query('vacuum analyze wh_event_store, wh_event_ticks');
    await this.client.query('checkpoint');
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.database.drop();
  }
}
