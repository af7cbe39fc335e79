// Two ways from events to models: a perspective, run batch by batch as an instance runs it, and a bare loop that reads
// events, reads models, writes them and notes its place, without any promise. Both fold the same events.

import pg from 'pg';
import { z } from 'zod';
import { registerPerspective, tick } from '../../src/coordinator/index.js';
import { defineEvent, newMessageId, perspective } from '../../src/index.js';
import { BatchRunner } from '../../src/perspectives/index.js';
import { factsOf } from '../../src/perspectives/registry.js';
import { timed } from '../measure/call-costs.js';
import type { BenchDatabase, BenchServer } from '../server.js';

const Counted = defineEvent('Counted', {
  schema: z.object({ text: z.string() }),
  stream: () => newMessageId(),
});
const counts = perspective('counts', { model: z.object({ events: z.number(), text: z.string() }) })
  .starts(Counted, ({ text }) => ({ events: 1, text }))
  .on(
    defineEvent('CountedAgain', { schema: z.object({ text: z.string() }), stream: () => newMessageId() }),
    ({ events }, { text }) => ({ events: events + 1, text }),
  );

/** A store with events, and a way to make models of them. */
export interface ModelMaker {
  /** Adds events: so many streams, each with so many events. */
  fill(streams: number, eventsPerStream: number): Promise<void>;
  /** Makes models of all events that it has not seen yet. Returns the milliseconds. */
  catchUp(): Promise<number>;
  /** Forgets its models and its place. What it makes next, it makes of all events. */
  beginAnew(): Promise<void>;
  /** Rows written in the tables of models and places since the database was made. */
  rowsWritten(): Promise<number>;
  close(): Promise<void>;
}

const insertEvents = `
  with s as (select gen_random_uuid() as id from generate_series(1, $1::int)),
  v as (insert into wh_event_streams (stream_id, version) select id, $2::int from s)
  insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
  select gen_random_uuid(), s.id, v.n, case v.n when 1 then 'Counted' else 'CountedAgain' end, 'Count',
    jsonb_build_object('text', repeat('x', 300))
  from generate_series(1, $2::int) as v(n), s order by v.n`;

abstract class Maker implements ModelMaker {
  readonly pool: pg.Pool;

  protected constructor(database: BenchDatabase) {
    this.pool = new pg.Pool({ connectionString: database.connectionString, max: 4 });
    this.pool.on('error', () => {});
  }

  async fill(streams: number, eventsPerStream: number): Promise<void> {
    await this.pool.query(insertEvents, [streams, eventsPerStream]);
    await tick(this.pool, 'whizbang');
  }

  async rowsWritten(): Promise<number> {
    await this.pool.query('select pg_stat_force_next_flush()').catch(() => {});
    const { rows } = await this.pool.query<{ rows: string }>(
      `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) as rows from pg_stat_user_tables
       where relname in ('counts_v1', 'wh_perspective_bookmarks', 'wh_perspectives', 'wh_perspective_checkpoints', 'models', 'place')`,
    );
    return Number(rows[0]?.rows);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  abstract catchUp(): Promise<number>;
  abstract beginAnew(): Promise<void>;
}

/** A perspective of one stream, run by the parts of an instance. */
export class PerspectiveMaker extends Maker {
  readonly #instanceId = newMessageId();
  readonly #runner: BatchRunner<never>;
  #build = 'counts@1';

  private constructor(database: BenchDatabase) {
    super(database);
    this.#runner = new BatchRunner<never>({
      pool: this.pool,
      schema: 'whizbang',
      leaseSeconds: 600,
      answerMs: 600_000,
      origin: { service: 'bench', instanceId: this.#instanceId },
      keys: { openEvents: async (rows) => rows },
      transaction: undefined as never,
      switchOver: async () => true,
      onHeld: (_, failed) => {
        throw new Error(`An event was not applied: ${failed[0]?.error.message}`);
      },
    });
  }

  static async open(server: BenchServer): Promise<PerspectiveMaker> {
    const maker = new PerspectiveMaker(await server.createMigratedDatabase());
    await registerPerspective(maker.pool, 'whizbang', maker.#instanceId, factsOf(counts));
    return maker;
  }

  async catchUp(): Promise<number> {
    await this.pool.query(
      `update wh_perspective_bookmarks set instance_id = $1, lease_expiry = 'infinity' where name = $2`,
      [this.#instanceId, this.#build],
    );
    const key = { instanceId: this.#instanceId, name: this.#build, from: 0 };
    const [, milliseconds] = await timed(async () => {
      let taken = await this.#runner.take(counts, key);
      while (taken?.next != null) {
        taken = (await this.#runner.run(counts, { key, taken: taken as never, goesOn: () => true })) ?? null;
      }
    });
    return milliseconds;
  }

  /** As a build of an existing store begins: it is swept, stream by stream. */
  async beginAnew(): Promise<void> {
    await this.pool.query(`drop view counts; drop table counts_v1; delete from wh_perspectives;
      delete from wh_perspective_bookmarks`);
    await registerPerspective(this.pool, 'whizbang', this.#instanceId, factsOf(counts));
  }
}

/** A loop as one would write it by hand: exactly once too, by one writer, in the order of the numbers. */
export class BareLoop extends Maker {
  static async open(server: BenchServer): Promise<BareLoop> {
    const loop = new BareLoop(await server.createMigratedDatabase());
    await loop.pool.query(`
      create table models (id uuid primary key, data jsonb, version bigint not null) with (fillfactor = 80);
      create table place (upto bigint not null); insert into place values (0)`);
    return loop;
  }

  async catchUp(): Promise<number> {
    const client = await this.pool.connect();
    try {
      const [, milliseconds] = await timed(async () => {
        while (await this.#batch(client)) {}
      });
      return milliseconds;
    } finally {
      client.release();
    }
  }

  async #batch(client: pg.PoolClient): Promise<boolean> {
    type Row = { stream_id: string; version: number; event_data: { text: string }; sequence_number: number };
    await client.query('begin');
    const { rows } = await client.query<{ events: Row[] | null }>(
      `select json_agg(e) as events from (
         select stream_id, version, event_data, sequence_number from wh_event_store
         where sequence_number > (select upto from place for update) order by sequence_number limit 500) e`,
    );
    const events = rows[0]?.events ?? [];
    if (events.length > 0) {
      const ids = [...new Set(events.map(({ stream_id }) => stream_id))];
      const before = await client.query<{ id: string; data: { events: number; text: string } }>(
        'select id, data from models where id = any($1::uuid[])',
        [ids],
      );
      const models = new Map(before.rows.map(({ id, data }) => [id, data]));
      const versions = new Map<string, number>();
      for (const { stream_id: id, version, event_data } of events) {
        models.set(id, { events: (models.get(id)?.events ?? 0) + 1, text: event_data.text });
        versions.set(id, version);
      }
      const written = ids.map((id) => ({ id, data: models.get(id), version: versions.get(id) }));
      await client.query(
        `insert into models as m (id, data, version)
         select id, data, version from jsonb_to_recordset($1::text::jsonb) as x(id uuid, data jsonb, version bigint) order by id
         on conflict (id) do update set data = excluded.data, version = excluded.version where m.version < excluded.version`,
        [JSON.stringify(written)],
      );
      await client.query('update place set upto = $1', [events.at(-1)?.sequence_number]);
    }
    await client.query('commit');
    return events.length > 0;
  }

  async beginAnew(): Promise<void> {
    await this.pool.query('truncate models; update place set upto = 0');
  }
}
