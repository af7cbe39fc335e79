// A whizbang database in a chosen state, with one instance that works on it. In: the bench server.
// Out: a queue that questions fill, claim from and put back to. Used by the questions about growth.

import type pg from 'pg';
import { timed } from './measure/call-costs.js';
import { messageSource, type NextBatch } from './messages.js';
import type { BenchDatabase, BenchServer } from './server.js';
import { BenchInstance, idsOf, insertPlainly } from './work-batch.js';

export type Feeding = 'function' | 'plain insert';

export class BenchQueue {
  readonly database: BenchDatabase;
  readonly client: pg.Client;
  readonly instance: BenchInstance;

  private constructor(database: BenchDatabase, client: pg.Client) {
    this.database = database;
    this.client = client;
    this.instance = new BenchInstance(client);
  }

  static async open(server: BenchServer): Promise<BenchQueue> {
    const database = await server.createMigratedDatabase();
    return new BenchQueue(database, await database.connect());
  }

  /** Fills the queue with messages that no instance holds. */
  async fill(count: number, feeding: Feeding, nextBatch: NextBatch = messageSource('own')): Promise<void> {
    for (let stored = 0; stored < count; stored += 1000) {
      const batch = nextBatch(Math.min(1000, count - stored));
      if (feeding === 'function') await this.instance.store(batch);
      else await insertPlainly(this.client, batch);
    }
  }

  /**
   * Lets the coordinator admit every message that was stored without room to run it, by plain insert or by
   * the function: the messages are handed out and released. Messages in a stream that an instance holds, or
   * that is blocked, stay as they are; the floor moves past them.
   */
  async admitAll(): Promise<void> {
    while (await this.#someUnadmitted()) {
      const items = await this.instance.call({ take: 1000 });
      await this.instance.call({ release: idsOf(items), take: 0 });
    }
  }

  async #someUnadmitted(): Promise<boolean> {
    const found = await this.client.query(
      `select from wh_outbox where partition_number is null
         and sequence_order >= (select admitted_below from wh_lanes where lane = 'outbox') limit 1`,
    );
    return found.rowCount !== 0;
  }

  /**
   * Adds streams with a failed head that waits for its retry, and one message behind it. Returns their ids.
   */
  async blockStreams(count: number): Promise<string[]> {
    const perCall = 500;
    const streams: string[] = [];
    while (streams.length < count) {
      const heads = messageSource('own')(perCall);
      const ids = heads.map(({ stream_id }) => stream_id);
      await this.block(idsOf(await this.instance.call({ store: heads, take: perCall })));
      await this.instance.store(messageSource(ids)(perCall));
      streams.push(...ids);
    }
    return streams;
  }

  /** Reports messages that the instance holds as failed, to be retried in an hour. */
  async block(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) throw new Error('no head was handed out to be failed');
    const fail = ids.map((id) => ({ message_id: id, error: 'bench', retry_after_seconds: 3600 }));
    await this.instance.call({ fail, take: 0 });
  }

  /**
   * Brings the tables into the state after an autovacuum and a checkpoint, so that neither happens inside the
   * measurement.
   */
  async settle(): Promise<void> {
    await this.client.query('vacuum analyze wh_outbox, wh_active_streams');
    await this.client.query('checkpoint');
  }

  /** Milliseconds of claiming a batch, which is then released: the same messages stay waiting. */
  async claimAndRelease(count: number): Promise<number> {
    const [ids, milliseconds] = await this.#claim(count);
    await this.instance.call({ release: ids, take: 0 });
    return milliseconds;
  }

  /** Milliseconds of claiming a batch, which is then completed and replaced by as many new messages. */
  async claimAndReplace(count: number, feeding: Feeding, nextBatch: NextBatch): Promise<number> {
    const [ids, milliseconds] = await this.#claim(count);
    const fresh = nextBatch(count);
    if (feeding === 'plain insert') await insertPlainly(this.client, fresh);
    await this.instance.call({ complete: ids, store: feeding === 'function' ? fresh : [], take: 0 });
    return milliseconds;
  }

  async #claim(count: number): Promise<[ids: string[], milliseconds: number]> {
    const [items, milliseconds] = await timed(() => this.instance.call({ take: count }));
    if (items.length !== count) throw new Error(`${items.length} messages handed out instead of ${count}`);
    return [idsOf(items), milliseconds];
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.database.drop();
  }
}
