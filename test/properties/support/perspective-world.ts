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
import { PerspectiveLedger } from './perspective-ledger.js';
import { PerspectiveOperators } from './perspective-operators.js';
import { inTransaction, interruptedPool, unlessDropped } from './perspective-pool.js';
import type { Random } from './random.js';

/** No event of these schedules has sealed fields. */
const unsealed = { openEvents: async <Row>(rows: readonly Row[]) => rows };

export interface Work {
  readonly key: BookmarkKey;
  readonly perspective: AnyPerspective<Queryable>;
  /** Undefined: it has to be taken, again. `along`: what the call that leased it has brought along. */
  taken: TakenBookmark | undefined;
  along: TakenBookmark | null;
  isRunning: boolean;
}

/** An instance, with the bookmarks that it believes to hold. */
export interface Runner {
  readonly instance: Instance;
  readonly batches: BatchRunner<Queryable>;
  readonly works: Work[];
  /** Which version of each perspective it has code for; 0: none. */
  readonly versions: Map<string, number>;
}

interface OpenTransaction {
  readonly client: pg.PoolClient;
  readonly streamId: string;
  readonly onEnd: (isCommitted: boolean) => void;
}

export class PerspectiveWorld {
  readonly troubles = new Troubles();
  readonly ledger = new PerspectiveLedger();
  readonly operators: PerspectiveOperators;
  /** In their first version. */
  readonly perspectives: readonly AnyPerspective<Queryable>[];
  readonly registered: AnyPerspective<Queryable>[] = [];
  readonly runners: Runner[] = [];
  readonly open: OpenTransaction[] = [];
  /** What happens between two statements of a batch. */
  meanwhile: () => Promise<void> = async () => {};
  readonly #pool: ConnectionPool;

  constructor(
    readonly db: TestDatabase,
    readonly random: Random,
  ) {
    const all = perspectivesWith(this.troubles, 1);
    const first = random.pick(all);
    this.perspectives = all.filter((each) => each === first || random.chance(0.2));
    this.operators = new PerspectiveOperators(db, random, this.ledger);
    this.#pool = interruptedPool(db, random, () => this.meanwhile());
  }

  join(leaseSeconds: number): Runner {
    const transaction = (work: (tx: Queryable, watched: object) => Promise<unknown>) =>
      inTransaction(this.#pool, work);
    const batches = new BatchRunner<Queryable>({
      pool: this.#pool,
      schema: 'whizbang',
      leaseSeconds,
      answerMs: 60_000,
      origin: { sender: { service: 'shop', instanceId: this.random.uuid() } } as never,
      transaction: transaction as never,
      onHeld: () => {},
      keys: unsealed,
      switchOver: (build) => this.operators.switchOver(build),
    });
    const instance = new Instance(this.random.uuid(), this.db.pool);
    const runner = { instance, batches, works: [], versions: new Map<string, number>() };
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
    await registerAll({ registry, pool: this.db.pool, schema: 'whizbang', instanceId, logger: silentLogger });
    this.registered.push(perspective);
    await this.ledger.registered(this.db, perspective.name);
  }

  /** An instance with the next version of a perspective starts. */
  async raise(name: string): Promise<void> {
    if (this.#find(`${name}@2`) !== undefined) return;
    const next = perspectivesWith(this.troubles, 2).find((each) => each.name === name);
    await this.register(next as AnyPerspective<Queryable>);
  }

  #find(code: string): AnyPerspective<Queryable> | undefined {
    return this.registered.find(({ name, version }) => `${name}@${version}` === code);
  }

  /** What the instance has code for: of a perspective mostly the newest version that it has seen, once and for all. */
  #codesOf({ versions }: Runner): readonly string[] {
    for (const { name } of this.registered) {
      if (versions.has(name)) continue;
      const newest = this.#find(`${name}@2`) === undefined ? 1 : 2;
      versions.set(name, this.random.chance(0.1) ? 0 : this.random.chance(0.2) ? 1 : newest);
    }
    return [...versions].filter(([, version]) => version > 0).map(([name, version]) => `${name}@${version}`);
  }

  /** All that there is code for, as of several instances. */
  get allCodes(): readonly string[] {
    return this.registered.map(({ name, version }) => `${name}@${version}`);
  }

  /** A call: it stores, admits what was inserted, makes a tick, and leases bookmarks. */
  async call(runner: Runner, bookmarks: number, codes = this.#codesOf(runner)): Promise<number> {
    const items = await runner.instance.call({
      p_max_outbox_items: 100,
      p_max_inbox_items: 100,
      p_max_perspective_items: bookmarks,
      p_perspectives: [...codes],
      p_lease_seconds: 60,
    });
    const found = items.filter(({ source }) => source === 'perspective');
    for (const { destination: name, partition_number: from, event_data } of found) {
      const perspective = this.#find(name.replace(/\.\d+$/, ''));
      if (perspective === undefined) throw new Error(`unknown perspective ${name}`);
      const key = { instanceId: runner.instance.id, name, from };
      const { taken: along } = event_data as { taken: TakenBookmark | null };
      runner.works.push({ key, perspective, taken: undefined, along, isRunning: false });
    }
    return found.length;
  }

  /** Whether a batch of the build has its bookmark locked, in a transaction. */
  isInTransaction(build: string): boolean {
    const works = this.runners.flatMap((runner) => runner.works);
    return works.some(
      ({ key, perspective, isRunning }) => isRunning && perspective.kind === 'custom' && key.name === build,
    );
  }

  /** One batch. `isAnswerLost`: the instance does not learn what became of it. */
  async run(runner: Runner, work: Work, goesOn: boolean, isAnswerLost: boolean): Promise<void> {
    const { key, perspective } = work;
    // Who waits for its own locked bookmark would wait for ever: the deeds come one after the other.
    const isBusy = runner.works.some((each) => each.isRunning && each.key.name === key.name);
    if (isBusy && (perspective.kind === 'custom' || work.isRunning)) return;
    work.isRunning = true;
    const taken = work.taken ?? (await runner.batches.take(perspective, key, work.along));
    work.along = null;
    const next = taken?.next;
    const moved =
      taken == null || next == null
        ? null
        : await runner.batches
            .run(perspective, { key, taken: { ...taken, next }, goesOn: () => goesOn })
            .catch((error: unknown) => unlessDropped(this.db.pool, key.name, error));
    work.isRunning = false;
    if (moved === null) runner.works.splice(runner.works.indexOf(work), 1);
    else work.taken = isAnswerLost ? undefined : moved;
  }

  async append(messages: readonly NewOutboxMessage[], isInline: boolean): Promise<void> {
    await inTransaction(this.#pool, (tx) => this.#append(messages, isInline, tx));
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

  /** As the database was before the schedule. */
  async forgetEverything(): Promise<void> {
    for (const transaction of [...this.open]) await this.end(transaction, false);
    const { rows } = await this.db.pool.query<{ table_name: string }>(
      'select table_name from wh_perspectives where table_name is not null',
    );
    const drops = rows.map(({ table_name }) => `drop table if exists ${table_name} cascade;`);
    await this.db.pool.query(`
      ${drops.join(' ')}
      delete from wh_perspectives; delete from wh_perspective_bookmarks; delete from wh_perspective_checkpoints;
      delete from wh_outbox; delete from wh_inbox; delete from wh_active_streams; delete from wh_service_instances;
      delete from wh_message_deduplication; delete from wh_event_store; delete from wh_event_streams;
      delete from wh_event_ticks; delete from wh_event_audit; delete from applied; delete from announced`);
  }

  async #append(messages: readonly NewOutboxMessage[], isInline: boolean, tx: Queryable): Promise<void> {
    const options = { pool: this.db.pool, schema: 'whizbang', keys: unsealed, logger: silentLogger };
    // The application has one version of each.
    const version = this.random.chance(0.5) ? 1 : 2;
    const perspectives = this.registered.filter((each) => each.version === version);
    const inline = new InlinePerspectives({ ...options, perspectives });
    if (isInline && inline.concerns(messages)) await inline.append(messages, tx);
    else await appendEvents(tx, 'whizbang', messages);
  }
}

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0, p_max_perspective_items: 0 };
