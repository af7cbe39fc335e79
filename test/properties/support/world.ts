// The schedule's world: several instances over connections of their own, applications with open transactions, one
// database. In: calls and other deeds, one at a time. Out: nothing, or an error when a promise is broken.
// Called by the steps. It moves time by moving every time in the database back: there is no other clock.
import pg from 'pg';
import { Instance, type NewMessage, type WorkRow } from '../../support/work.js';
import { type BatchCall, type LaneName, laneOf, parametersOf, type Stored } from './batch-call.js';
import { judgeCall } from './judge.js';
import { broken, Model, type ModelMessage, modelOf } from './model.js';
import {
  checkEventOrder,
  checkEvents,
  checkMechanism,
  checkPromises,
  type Snapshot,
  takeSnapshot,
} from './snapshot.js';

export interface Item {
  readonly lane: LaneName;
  readonly id: string;
  /** Failures before this one was handed out. */
  readonly attempts: number;
}

/** An instance as it sees itself: what it believes to hold, and what it once held. */
export interface Worker {
  readonly id: string;
  readonly instance: Instance;
  memory: Item[];
  past: Item[];
}

export interface Connections {
  readonly workers: readonly pg.Client[];
  readonly applications: readonly pg.Client[];
  readonly observer: pg.Client;
}

interface OpenTransaction {
  readonly client: pg.Client;
  readonly messages: ModelMessage[];
}

export class World {
  readonly model = new Model();
  readonly workers: Worker[] = [];
  readonly open: OpenTransaction[] = [];
  /** Messages stored through the function, which may be sent again. */
  readonly sent: Stored[] = [];
  snapshot!: Snapshot;
  /** The snapshot of the last check. */
  private checked: Snapshot | undefined;
  /** Whether nothing has happened since the snapshot. */
  private isFresh = false;

  /** `takesAll`: a call that asks for anything gets all there is, so that nobody has to choose. */
  constructor(
    private readonly connections: Connections,
    private readonly takesAll = false,
  ) {}

  join(id: string): Worker {
    const connection = this.connections.workers[this.workers.length % 3] as pg.Client;
    const worker: Worker = { id, instance: new Instance(id, connection), memory: [], past: [] };
    this.workers.push(worker);
    return worker;
  }

  async leave(worker: Worker): Promise<void> {
    await this.connections.observer.query('select deregister_instance($1)', [worker.id]);
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.model.forget(worker.id);
  }

  /** One call, judged by the model. With `isLost` its answer does not reach the worker, which knows of nothing it was handed. */
  async call(worker: Worker, call: BatchCall, isAnswerLost = false): Promise<void> {
    if (this.takesAll) {
      for (const lane of ['outbox', 'inbox'] as const) if (call.room[lane] > 0) call.room[lane] = 1000;
      call.maxPartitions = null;
    }
    let rows: WorkRow[];
    try {
      rows = await worker.instance.call(parametersOf(call));
    } catch (error) {
      if (call.refusedFor !== undefined && error instanceof pg.DatabaseError && error.code === 'WB002')
        return;
      throw error;
    }
    if (call.refusedFor !== undefined) broken('a wrong expected version was accepted', call.refusedFor);
    await this.look();
    const { items, lost, stored } = judgeCall(this.model, this.snapshot, call, rows);
    if (isAnswerLost) return;
    const isLost = ({ lane, id }: Pick<Item, 'lane' | 'id'>) =>
      lost.some((row) => row.source === lane && row.message_id === id);
    for (const report of call.reports) if (report.kind !== 'renew' || isLost(report)) letGo(worker, report);
    worker.memory.push(
      ...items.map(({ source, message_id, attempts }) => ({
        lane: source as LaneName,
        id: message_id,
        attempts,
      })),
    );
    this.sent.push(
      ...call.stores.filter(
        ({ message, isToItself }) => !isToItself && stored.some(({ id }) => id === message.message_id),
      ),
    );
  }

  /**
   * A call in a handler's transaction, which stays open while something else happens. Then it commits, or is ended, as
   * PostgreSQL does when the connection has fallen silent.
   */
  async settleSilently(
    worker: Worker,
    call: BatchCall,
    commits: boolean,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    if (this.model.isStale(worker.id, call)) return; // who is removed meanwhile is for other steps
    const client = await this.begin();
    const rows = await worker.instance.over(client).call(parametersOf(call));
    for (const { lane, id } of call.reports) {
      const isLost = rows.some(({ source, message_id }) => source === lane && message_id === id);
      const stream = `${lane} ${this.model.find(lane, id)?.key}`;
      (isLost ? this.model.perhapsLocked : this.model.locked).add(stream);
    }
    await meanwhile();
    this.model.locked.clear();
    this.model.perhapsLocked.clear();
    await client.query(commits ? 'commit' : 'rollback');
    await this.look();
    if (!commits) return;
    const { lost } = judgeCall(this.model, this.snapshot, call, rows);
    for (const report of call.reports) letGo(worker, report);
    if (lost.length > call.reports.length) broken('more is lost than was reported', lost);
  }

  /** A plain insert, in a transaction of its own or in one that stays open. */
  async insertPlain(lane: LaneName, messages: readonly NewMessage[], keepsOpen: boolean): Promise<void> {
    const client = keepsOpen ? await this.begin() : this.connections.observer;
    const { table, target } = laneOf[lane];
    const inserted: ModelMessage[] = [];
    for (const message of messages) {
      const { rows } = await client.query(
        `insert into ${table} (message_id, ${target}, event_type, event_data, stream_id, is_event)
         values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, $3) returning sequence_order`,
        [message.message_id, message.stream_id ?? null, message.is_event ?? false],
      );
      const order = Number(rows[0].sequence_order);
      inserted.push(modelOf(lane, message, order, 0, keepsOpen ? 'open' : 'unfinished'));
    }
    for (const message of inserted) this.model.add(message);
    if (keepsOpen) this.open.push({ client, messages: inserted });
  }

  /** An application's call without room, in a transaction that stays open. */
  async storeOpen(lane: LaneName, applicationId: string, messages: readonly NewMessage[]): Promise<void> {
    const client = await this.begin();
    const application = new Instance(applicationId, client, { p_max_outbox_items: 0, p_max_inbox_items: 0 });
    await application.call(laneOf[lane].stores(...messages));
    const { rows } = await client.query<{ message_id: string; sequence_order: string }>(
      `select message_id, sequence_order from ${laneOf[lane].table} where message_id = any($1)`,
      [messages.map(({ message_id }) => message_id)],
    );
    const orders = new Map(
      rows.map(({ message_id, sequence_order }) => [message_id, Number(sequence_order)]),
    );
    const stored = messages.map((each) =>
      modelOf(lane, each, orders.get(each.message_id) ?? Number.NaN, 0, 'open'),
    );
    for (const message of stored) this.model.add(message);
    this.open.push({ client, messages: stored });
  }

  async end(transaction: OpenTransaction, commits: boolean): Promise<void> {
    this.open.splice(this.open.indexOf(transaction), 1);
    await transaction.client.query(commits ? 'commit' : 'rollback');
    for (const message of transaction.messages) message.fate = commits ? 'unfinished' : 'rolled back';
  }

  /** A connection on which a transaction begins; when all have one already, the oldest commits. */
  private async begin(): Promise<pg.Client> {
    const isIdle = (client: pg.Client) => this.open.every((each) => each.client !== client);
    if (!this.connections.applications.some(isIdle)) await this.end(this.open[0] as OpenTransaction, true);
    const client = this.connections.applications.find(isIdle) as pg.Client;
    await client.query('begin');
    return client;
  }

  async pass(seconds: number): Promise<void> {
    const back = `- interval '${seconds} seconds'`;
    await this.connections.observer.query(`
      update wh_outbox set lease_expiry = lease_expiry ${back}, scheduled_for = scheduled_for ${back} where processed_at is null;
      update wh_inbox set lease_expiry = lease_expiry ${back}, scheduled_for = scheduled_for ${back} where processed_at is null;
      update wh_active_streams set lease_expiry = lease_expiry ${back}, available_at = available_at ${back};
      update wh_admission set until = until ${back};
      update wh_service_instances set last_heartbeat_at = last_heartbeat_at ${back};
      update wh_lanes set free_from = free_from ${back}, leased_from = leased_from ${back}, next_from = next_from ${back},
        moved_at = moved_at ${back}, swept_at = swept_at ${back};`);
    this.model.passed += seconds * 1000;
  }

  /** Back to an empty database, with transactions ended; the streams are finished already when all went well. */
  async forgetEverything(): Promise<void> {
    for (const transaction of [...this.open]) await this.end(transaction, false);
    await this.connections.observer.query(`
      delete from wh_outbox; delete from wh_inbox; delete from wh_active_streams; delete from wh_service_instances;
      delete from wh_message_deduplication; delete from wh_dead_letters; delete from wh_event_store; delete from wh_event_streams;
      delete from wh_subscriptions;`);
  }

  async look(): Promise<void> {
    this.isFresh = true;
    this.snapshot = await takeSnapshot(this.connections.observer);
    this.model.clock = this.snapshot.now;
  }

  /** After every step: the promises and the mechanism. */
  async check(): Promise<void> {
    if (!this.isFresh) await this.look();
    this.isFresh = false;
    checkPromises(this.snapshot, this.model);
    checkEvents(this.snapshot);
    checkEventOrder(this.checked ?? this.snapshot, this.snapshot, this.model);
    checkMechanism(this.snapshot);
    this.checked = this.snapshot;
  }
}

function letGo(worker: Worker, { lane, id }: Pick<Item, 'lane' | 'id'>): void {
  const isMeant = (item: Item) => item.id === id && item.lane === lane;
  const known = worker.memory.find(isMeant);
  worker.memory = worker.memory.filter((item) => !isMeant(item));
  if (known !== undefined && !worker.past.some(isMeant)) worker.past.push(known);
}
