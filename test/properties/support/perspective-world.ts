// Several instances that work on the same perspectives, one step at a time, in one process. In: deeds of a schedule.
// Out: nothing, or an error. Between any two statements of a batch other deeds may come, as `meanwhile` says.
// Time passes by update: leases end and retries are due when the schedule says so.
import type pg from 'pg';
import { appendEvents, type BookmarkKey, type TakenBookmark } from '../../../src/coordinator/index.js';
import type { ConnectionPool, Queryable } from '../../../src/database/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { NewOutboxMessage } from '../../../src/message.js';
import {
  type AnyPerspective,
  BatchRunner,
  InlinePerspectives,
  PerspectiveRegistry,
  registerAll,
} from '../../../src/perspectives/index.js';
import type { TestDatabase } from '../../support/database.js';
import { Instance, inbox, outbox } from '../../support/work.js';
import { perspectivesWith, Troubles } from './perspective-definitions.js';
import type { Random } from './random.js';

/** No event of these schedules has sealed fields. */
const unsealed = { openEvents: async <Row>(rows: readonly Row[]) => rows };

export interface Work {
  readonly key: BookmarkKey;
  readonly perspective: AnyPerspective<Queryable>;
  /** Undefined: it has to be taken, again. */
  taken: TakenBookmark | undefined;
  isRunning: boolean;
}

/** An instance, with the bookmarks that it believes to hold. */
export interface Runner {
  readonly instance: Instance;
  readonly batches: BatchRunner<Queryable>;
  readonly works: Work[];
}

interface OpenTransaction {
  readonly client: pg.PoolClient;
  readonly streamId: string;
  readonly onEnd: (isCommitted: boolean) => void;
}

export class PerspectiveWorld {
  readonly troubles = new Troubles();
  readonly perspectives: readonly AnyPerspective<Queryable>[];
  readonly registered: AnyPerspective<Queryable>[] = [];
  readonly runners: Runner[] = [];
  readonly open: OpenTransaction[] = [];
  /** What happens between two statements of a batch. */
  meanwhile: () => Promise<void> = async () => {};

  constructor(
    readonly db: TestDatabase,
    readonly random: Random,
  ) {
    const all = perspectivesWith(this.troubles);
    const first = random.pick(all);
    this.perspectives = all.filter((each) => each === first || random.chance(0.35));
  }

  join(leaseSeconds: number): Runner {
    const transaction = (work: (tx: Queryable, watched: object) => Promise<unknown>) =>
      this.#inTransaction(work);
    const batches = new BatchRunner<Queryable>({
      pool: this.#pool,
      schema: 'public',
      leaseSeconds,
      answerMs: 60_000,
      origin: { sender: { service: 'shop', instanceId: this.random.uuid() } } as never,
      transaction: transaction as never,
      onHeld: () => {},
      keys: unsealed,
      switchOver: async () => true,
    });
    const runner = { instance: new Instance(this.random.uuid(), this.db.pool), batches, works: [] };
    this.runners.push(runner);
    return runner;
  }

  /** It is gone with all that it held. */
  kill(runner: Runner): void {
    this.runners.splice(this.runners.indexOf(runner), 1);
  }

  async register(perspective: AnyPerspective<Queryable>): Promise<void> {
    const registry = new PerspectiveRegistry<Queryable>([perspective]);
    const instanceId = this.random.uuid();
    await registerAll({ registry, pool: this.db.pool, schema: 'public', instanceId, logger: silentLogger });
    this.registered.push(perspective);
  }

  /** A call: it stores, admits what was inserted, makes a tick, and leases bookmarks. */
  async call(runner: Runner, bookmarks: number): Promise<number> {
    const items = await runner.instance.call({
      p_max_outbox_items: 100,
      p_max_inbox_items: 100,
      p_max_perspective_items: bookmarks,
      p_perspectives: this.registered.map(({ name }) => `${name}@1`),
      p_lease_seconds: 60,
    });
    const found = items.filter(({ source }) => source === 'perspective');
    for (const { destination: name, partition_number: from } of found) {
      const perspective = this.perspectives.find((each) => name === `${each.name}@1`);
      if (perspective === undefined) throw new Error(`unknown perspective ${name}`);
      const key = { instanceId: runner.instance.id, name, from };
      runner.works.push({ key, perspective, taken: undefined, isRunning: false });
    }
    return found.length;
  }

  /** One batch. `isAnswerLost`: the instance does not learn what became of it. */
  async run(runner: Runner, work: Work, goesOn: boolean, isAnswerLost: boolean): Promise<void> {
    const { key, perspective } = work;
    // Who waits for its own locked bookmark would wait for ever: the deeds come one after the other.
    const isBusy = runner.works.some((each) => each.isRunning && each.key.name === key.name);
    if (isBusy && (perspective.kind === 'custom' || work.isRunning)) return;
    work.isRunning = true;
    const taken = work.taken ?? (await runner.batches.take(perspective, key));
    const next = taken?.next;
    const moved =
      taken == null || next == null
        ? null
        : await runner.batches.run(perspective, { key, taken: { ...taken, next }, goesOn: () => goesOn });
    work.isRunning = false;
    if (moved === null) runner.works.splice(runner.works.indexOf(work), 1);
    else work.taken = isAnswerLost ? undefined : moved;
  }

  async append(messages: readonly NewOutboxMessage[], isInline: boolean): Promise<void> {
    await this.#inTransaction((tx) => this.#append(messages, isInline, tx));
  }

  /** Appends in a transaction that stays open. */
  async appendOpen(
    streamId: string,
    messages: readonly NewOutboxMessage[],
    isInline: boolean,
    onEnd: (isCommitted: boolean) => void,
  ): Promise<void> {
    const client = await this.db.pool.connect();
    await client.query('begin');
    await this.#append(messages, isInline, client);
    this.open.push({ client, streamId, onEnd });
  }

  async end(transaction: OpenTransaction, commits: boolean): Promise<void> {
    this.open.splice(this.open.indexOf(transaction), 1);
    await transaction.client.query(commits ? 'commit' : 'rollback');
    transaction.client.release();
    transaction.onEnd(commits);
  }

  async store(
    lane: 'outbox' | 'inbox',
    messages: readonly NewOutboxMessage[],
    isPlain: boolean,
  ): Promise<void> {
    const rows = messages.map(({ messageId, eventType, eventData, streamId }) => ({
      message_id: messageId,
      event_type: eventType,
      event_data: eventData,
      stream_id: streamId ?? null,
      is_event: true,
    }));
    const to = lane === 'outbox' ? outbox : inbox;
    if (isPlain) await to.insertPlain(this.db.pool, ...rows);
    else await new Instance(this.random.uuid(), this.db.pool, noRoom).call(to.stores(...rows));
  }

  /** The leases of these bookmarks end; but who works in a transaction keeps its lock. */
  async expire(name: string | null): Promise<void> {
    await this.db.pool.query(
      `update wh_perspective_bookmarks set lease_expiry = clock_timestamp() - interval '1 s'
       where ctid = any(array(
         select ctid from wh_perspective_bookmarks
         where instance_id is not null and ($1::text is null or name = $1) for update skip locked))`,
      [name],
    );
  }

  async dueNow(): Promise<void> {
    await this.db.pool.query('update wh_perspective_checkpoints set retry_at = clock_timestamp() where held');
  }

  async mergeTicks(): Promise<void> {
    await this.#inTransaction(async (tx) => {
      await tx.query('select wh_lock_ticks()');
      await tx.query('select wh_merge_ticks(0, (select max(tick) - 1 from wh_event_ticks))');
    });
  }

  /** As the database was before the schedule. */
  async forgetEverything(): Promise<void> {
    for (const transaction of [...this.open]) await this.end(transaction, false);
    const tables = this.perspectives.filter(({ kind }) => kind !== 'custom').map(({ name }) => `${name}_v1`);
    const drops = tables.map((table) => `drop table if exists ${table} cascade;`);
    await this.db.pool.query(`
      ${drops.join(' ')}
      delete from wh_perspectives; delete from wh_perspective_bookmarks; delete from wh_perspective_checkpoints;
      delete from wh_outbox; delete from wh_inbox; delete from wh_active_streams; delete from wh_service_instances;
      delete from wh_message_deduplication; delete from wh_event_store; delete from wh_event_streams;
      delete from wh_event_ticks; delete from wh_event_audit; delete from applied`);
  }

  async #append(messages: readonly NewOutboxMessage[], isInline: boolean, tx: Queryable): Promise<void> {
    const options = { pool: this.db.pool, schema: 'public', keys: unsealed, logger: silentLogger };
    const inline = new InlinePerspectives({ ...options, perspectives: this.registered });
    if (isInline && inline.concerns(messages)) await inline.append(messages, tx);
    else await appendEvents(tx, 'public', messages);
  }

  async #inTransaction<T>(work: (tx: Queryable, watched: object) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query('begin');
      const result = await work(client, { db: client, refuseGivenUp: () => {} });
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  }

  /** Connections on which other deeds may come before a read of models and before a move; and small batches. */
  readonly #pool: ConnectionPool = {
    connect: async () => {
      const client = await this.db.pool.connect();
      const query = async (text: string, values: unknown[] = []) => {
        if (/wh_move_bookmark|wh_read_models/.test(text)) await this.meanwhile();
        const at = text.includes('wh_take_bookmark') ? 3 : text.includes('wh_move_bookmark') ? 6 : undefined;
        if (at !== undefined && values[at] !== '1') values[at] = String(1 + this.random.below(5));
        return client.query(text, values);
      };
      return { query, release: (error?: unknown) => client.release(error as Error) } as never;
    },
  };
}

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0, p_max_perspective_items: 0 };
