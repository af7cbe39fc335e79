// One instance that works at the same time as others: stores, claims, handles, fails, stalls, leaves and comes back.
// In: its own connection and a seed. Out: a log of what was committed and handed out when, and the errors it met.
// A handler writes its effect and completes its message in one transaction: a lost lease rolls the effect back.
// Called by the concurrent test, which judges by the log and by the table of effects.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  Flags,
  Instance,
  type Lane,
  lanes,
  message,
  type NewMessage,
  type Parameters,
  type WorkRow,
} from '../../support/work.js';
import type { Random } from './random.js';

export class Log {
  /** When the commit of a message had returned, and when the call that last handed it out was sent. */
  readonly committed = new Map<string, number>();
  readonly handedOut = new Map<string, number>();
  readonly errors: string[] = [];
  deadlocks = 0;
  handled = 0;
  refused = 0;
}

const settings: Parameters = { p_lease_seconds: 1, p_stale_threshold_seconds: 3, p_takeover_seconds: 0.05 };
const noRoom: Parameters = { p_max_outbox_items: 0, p_max_inbox_items: 0 };
const isLost = ({ flags }: WorkRow) => (flags & Flags.LeaseLost) !== 0;

export class ConcurrentWorker {
  private instance: Instance;
  private held: WorkRow[] = [];
  /** What it has let go of without a word is still leased to it: until that has ended nothing may be handed out behind it. */
  private continuesFrom = 0;

  constructor(
    private readonly client: pg.Client,
    private readonly random: Random,
    private readonly streams: readonly string[],
    private readonly log: Log,
  ) {
    this.instance = new Instance(random.uuid(), client, settings);
  }

  async workUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        await this.turn();
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === '40P01') this.log.deadlocks++;
        else this.log.errors.push(`${code}: ${String(error)}`);
        await this.client.query('rollback');
      }
    }
  }

  private turn(): Promise<unknown> {
    const { random } = this;
    switch (random.weighted({ call: 30, handle: 30, plain: 20, fail: 8, renew: 4, stall: 2, leave: 1 })) {
      case 'call':
        return this.call(...this.stores(), this.room());
      case 'handle':
        return this.handle(random.pick(lanes));
      case 'plain':
        return this.insertPlain();
      case 'fail':
        return this.fail();
      case 'renew':
        return this.call(...lanes.map((lane) => lane.renews(this.of(lane))), noRoom);
      case 'stall':
        return sleep(random.pick([200, 1100]));
      default:
        return this.leave();
    }
  }

  private of(lane: Lane): WorkRow[] {
    return this.held.filter(({ source }) => source === lane.source);
  }

  private room(): Parameters {
    return Object.assign({}, ...lanes.map((lane) => lane.room(this.random.pick([0, 1, 3, 10]))));
  }

  private draw(): NewMessage {
    return message({
      message_id: this.random.uuid(),
      stream_id: this.random.pick(this.streams),
      is_event: this.random.chance(0.3),
    });
  }

  private stores(): Parameters[] {
    return lanes.map((lane) =>
      lane.stores(...Array.from({ length: this.random.below(4) }, () => this.draw())),
    );
  }

  /** A call in its own transaction. What it stores is committed, and what it gets is held, when it returns. */
  private async call(...parts: Parameters[]): Promise<void> {
    const sentAt = performance.now();
    const flags = sentAt >= this.continuesFrom ? Flags.Continues : 0;
    const given: Parameters = Object.assign({ p_flags: flags }, ...parts);
    const rows = await this.instance.call(given);
    // What it lost, it no longer holds. What its lease had run out on may come to it again: then it holds it once.
    const named = new Set(rows.map(({ message_id }) => message_id));
    this.held = this.held.filter(({ message_id }) => !named.has(message_id));
    for (const row of rows.filter((each) => !isLost(each))) {
      this.held.push(row);
      this.log.handedOut.set(row.message_id, sentAt);
    }
    for (const lane of lanes) {
      const stored = (given[`p_new_${lane.source}_messages`] ?? []) as NewMessage[];
      for (const { message_id } of stored) this.log.committed.set(message_id, performance.now());
    }
  }

  /** The first few that it holds, in order, in one transaction with their effects. */
  private async handle(lane: Lane): Promise<void> {
    const items = this.of(lane).slice(0, 1 + this.random.below(4));
    if (items.length === 0) return;
    await this.client.query('begin');
    for (const { message_id } of items) {
      await this.client.query('insert into effects (message_id, lane, instance_id) values ($1, $2, $3)', [
        message_id,
        lane.source,
        this.instance.id,
      ]);
    }
    if (this.random.chance(0.06)) await sleep(1200);
    const lost = await this.instance.call(lane.completes(items), noRoom);
    await this.client.query(lost.length > 0 ? 'rollback' : 'commit');
    this.log.refused += lost.length;
    if (lost.length === 0) this.log.handled += items.length;
    // What was not lost is still held after the rollback, but behind a gap it must not go on: it lets go of all.
    if (lost.length > 0) this.continuesFrom = performance.now() + 2000;
    this.held =
      lost.length > 0
        ? this.held.filter((row) => row.source !== lane.source)
        : this.held.filter((row) => !items.includes(row));
  }

  /** The first of a stream fails; what it holds behind it is given back in the same call. */
  private async fail(): Promise<void> {
    const lane = this.random.pick(lanes);
    const first = this.of(lane)[0];
    if (first === undefined) return;
    const behind = this.of(lane).filter((row) => row !== first && row.stream_id === first.stream_id);
    this.held = this.held.filter((row) => row !== first && !behind.includes(row));
    await this.call(
      lane.fails([first], { retry_after_seconds: this.random.pick([-1, 0.1]) }),
      lane.releases(behind),
      noRoom,
    );
  }

  private async insertPlain(): Promise<void> {
    const messages = Array.from({ length: 1 + this.random.below(3) }, () => this.draw());
    await this.client.query('begin');
    for (const { message_id, stream_id, is_event } of messages) {
      await this.client.query(
        `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
         values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, $3)`,
        [message_id, stream_id, is_event],
      );
    }
    if (this.random.chance(0.1)) await sleep(this.random.below(50));
    const commits = this.random.chance(0.9);
    await this.client.query(commits ? 'commit' : 'rollback');
    if (commits) for (const { message_id } of messages) this.log.committed.set(message_id, performance.now());
  }

  /** A clean goodbye, or a crash: somebody else's id from then on, and nothing is remembered. */
  private async leave(): Promise<void> {
    if (this.random.chance(0.5))
      await this.client.query('select deregister_instance($1)', [this.instance.id]);
    this.instance = new Instance(this.random.uuid(), this.client, settings);
    this.held = [];
  }
}
