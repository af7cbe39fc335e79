// The promises of the design's sections 1 and 2 as a small machine in memory. In: what a call asked for and what it
// returned. Out: an error when a promise is broken. Called by the world after every call. It knows nothing of
// the SQL: no stream rows, no floors, no admission. Its time is the database's plus what the schedule has let pass.
import { Flags, type NewMessage, Status } from '../../support/work.js';
import type { BatchCall, LaneName, Report } from './batch-call.js';

export interface ModelMessage {
  readonly id: string;
  readonly lane: LaneName;
  /** The stream, or the message itself when it has none. */
  readonly key: string;
  readonly isEvent: boolean;
  /** sequence_order; NaN until the database has told. */
  order: number;
  status: number;
  attempts: number;
  dueAt: number;
  holder: string | null;
  leaseEnd: number;
  /** Known once it was handed out. */
  partition: number;
  fate: 'open' | 'unfinished' | 'finished' | 'dead' | 'rolled back';
}

interface HandedOut {
  readonly source: string;
  readonly message_id: string;
  readonly partition_number: number;
  readonly status: number;
  readonly flags: number;
  readonly attempts: number;
  readonly sequence_order: number;
  readonly lease_expiry: Date;
}

class BrokenPromise extends Error {}

export function broken(promise: string, facts: unknown): never {
  throw new BrokenPromise(`${promise}: ${JSON.stringify(facts)}`);
}

const failedBits = Status.Failed;
const bothStages = Status.ReceptorProcessed | Status.PerspectiveProcessed;

export class Model {
  readonly messages = new Map<string, ModelMessage>();
  /** The latest lease that the holder of a stream has had in it: until then what it still holds there stays with it. */
  private readonly streamLeases = new Map<string, { holder: string; until: number }>();
  /** When each registered instance was last heard of. */
  readonly heartbeats = new Map<string, number>();
  /** The instances that have asked for work of a lane: they share its partitions. */
  private readonly takers: Record<LaneName, Set<string>> = { outbox: new Set(), inbox: new Set() };
  /** Streams on which a handler has reported in a transaction that is still open. */
  readonly locked = new Set<string>();
  /** Those that it has reported on and does not hold: it may have looked at their rows under a lock. */
  readonly perhapsLocked = new Set<string>();
  /** The database's clock at the last look, and what the schedule has let pass, in ms. */
  clock = 0;
  passed = 0;

  get now(): number {
    return this.clock + this.passed;
  }

  find(lane: string, id: string): ModelMessage | undefined {
    return this.messages.get(`${lane} ${id}`);
  }

  add(message: ModelMessage): void {
    this.messages.set(`${message.lane} ${message.id}`, message);
  }

  unfinished(): ModelMessage[] {
    return [...this.messages.values()].filter(({ fate }) => fate === 'unfinished');
  }

  isHeld({ holder, leaseEnd }: ModelMessage): boolean {
    return holder !== null && leaseEnd > this.now;
  }

  /** Whether a stream may still be kept for this message's holder, though the message's own lease has ended. */
  mayBeKept({ lane, key, holder }: ModelMessage): boolean {
    const lease = this.streamLeases.get(`${lane} ${key}`);
    return holder !== null && lease?.holder === holder && lease.until > this.now;
  }

  private lease(message: ModelMessage, holder: string, until: number): void {
    message.holder = holder;
    message.leaseEnd = Math.max(until, message.leaseEnd);
    const stream = `${message.lane} ${message.key}`;
    const lease = this.streamLeases.get(stream);
    if (lease?.holder !== holder || lease.until < until) this.streamLeases.set(stream, { holder, until });
  }

  /** The partitions in which the instance holds leases, with or without those that have run out. */
  partitionsOf(instanceId: string, withExpired: boolean): Set<number> {
    const held = this.unfinished().filter(({ holder }) => holder === instanceId);
    return new Set(held.filter((each) => withExpired || this.isHeld(each)).map(({ partition }) => partition));
  }

  release(instanceId: string): void {
    for (const message of this.messages.values()) if (message.holder === instanceId) message.holder = null;
  }

  /** Whether the call also looks at other instances: one that may belong to a handler's transaction does not. */
  heartbeat(call: BatchCall): boolean {
    const beats =
      call.room.outbox > 0 || call.room.inbox > 0 || call.reports.some(({ kind }) => kind === 'renew');
    const looks = beats || !this.heartbeats.has(call.instanceId);
    if (looks) this.heartbeats.set(call.instanceId, this.now);
    for (const lane of ['outbox', 'inbox'] as const) {
      if (call.room[lane] > 0) this.takers[lane].add(call.instanceId);
    }
    return looks;
  }

  /** Whether a partition belongs to the instance: by its rank among those alive that take work of the lane. */
  owns(instanceId: string, lane: LaneName, partition: number, staleSeconds: number): boolean {
    const isAlive = (id: string) => (this.heartbeats.get(id) ?? 0) > this.now - staleSeconds * 1000;
    const alive = [...this.takers[lane]].filter(isAlive).sort();
    return partition % alive.length === alive.indexOf(instanceId);
  }

  /** It is gone, and what it held is free. */
  forget(instanceId: string): void {
    this.heartbeats.delete(instanceId);
    for (const takers of Object.values(this.takers)) takers.delete(instanceId);
    this.release(instanceId);
  }

  isStale(instanceId: string, { staleSeconds }: BatchCall): boolean {
    return (this.heartbeats.get(instanceId) ?? 0) <= this.now - (staleSeconds - 5) * 1000;
  }

  /** Returns what the instances that are removed held. */
  removeStale(call: BatchCall): ModelMessage[] {
    const freed: ModelMessage[] = [];
    for (const [id, heardAt] of this.heartbeats) {
      if (id === call.instanceId || heardAt > this.now - call.staleSeconds * 1000) continue;
      freed.push(...this.unfinished().filter(({ holder }) => holder === id));
      this.forget(id);
    }
    return freed;
  }

  /** Applies a report of a holder. Whether it must be accepted, must be refused, or may be either. */
  judge(call: BatchCall, report: Report): 'held' | 'not held' | 'expired' {
    const message = this.find(report.lane, report.id);
    if (message?.fate !== 'unfinished' || message.holder !== call.instanceId) return 'not held';
    // Of an attempt that is counted already.
    if ('attempt' in report && report.attempt !== message.attempts + 1) return 'not held';
    return message.leaseEnd > this.now ? 'held' : 'expired';
  }

  apply(call: BatchCall, report: Report): void {
    const message = this.find(report.lane, report.id);
    if (message === undefined) return;
    if (report.kind === 'renew') {
      this.lease(message, call.instanceId, this.now + call.leaseSeconds * 1000);
      return;
    }
    message.holder = null;
    message.status |= report.status;
    if (report.kind === 'complete') {
      if (isDone(message, report.status)) message.fate = 'finished';
      return;
    }
    message.attempts += 1;
    message.status |= failedBits;
    if (report.kind === 'bury') message.fate = 'dead';
    else message.dueAt = this.now + report.retryAfterSeconds * 1000;
  }

  /** One item of a result: may it be handed out to this instance now? Then it is leased. */
  handOut(call: BatchCall, item: HandedOut, reportedNow: ReadonlySet<ModelMessage>): ModelMessage {
    const message = this.find(item.source, item.message_id);
    if (message?.fate !== 'unfinished')
      broken('a message that is not there is handed out', { item, message });
    if (this.isHeld(message)) broken('a message under a lease is handed out again', { item, message });
    if (this.locked.has(`${message.lane} ${message.key}`))
      broken('a message is handed out whose stream a handler has locked', { item, message });
    if (reportedNow.has(message)) broken('a message is handed out by the call that reported on it', item);
    if (message.dueAt > this.now)
      broken('a message is handed out before its time', { item, message, now: this.now });
    if (item.attempts !== message.attempts) broken('attempts are wrong', { item, message });
    if (differ(item.status, message)) broken('the status is wrong', { item, message });
    const retried = (item.flags & Flags.RetryAfterFailure) !== 0;
    if (retried !== ((message.status & failedBits) !== 0))
      broken('RetryAfterFailure is wrong', { item, message });
    message.partition = item.partition_number;
    message.leaseEnd = 0;
    this.lease(message, call.instanceId, item.lease_expiry.getTime() + this.passed);
    return message;
  }

  /** Of two messages in one stream the later one is not handed out while the earlier one is unfinished elsewhere. */
  checkOrder(call: BatchCall, items: readonly ModelMessage[]): void {
    const place = new Map(items.map((message, index) => [message, index]));
    const waiting = this.unfinished();
    for (const item of items) {
      for (const other of waiting) {
        if (other === item || other.lane !== item.lane || other.key !== item.key) continue;
        if (this.isHeld(other) && other.holder !== call.instanceId)
          broken('two instances hold one stream', { item, other });
        if (other.order > item.order) continue;
        if (other.holder !== call.instanceId) broken('a message is overtaken', { item, other });
        const before = place.get(other);
        if (before !== undefined && before > (place.get(item) as number))
          broken('out of order in one result', { item, other });
      }
    }
  }
}

/** Giving a lease back (0) finishes nothing. */
function isDone(message: ModelMessage, completion: number): boolean {
  if (completion === 0) return false;
  if (message.lane === 'outbox') return (completion & Status.Published) !== 0;
  return (
    (completion & Status.EventStored) !== 0 || ((message.status | completion) & bothStages) === bothStages
  );
}

/** EventStored comes by itself when an event is appended; that is checked against the event store. */
export function differ(status: number, message: ModelMessage): boolean {
  const mask = message.isEvent ? ~Status.EventStored : ~0;
  return (status & mask) !== (message.status & mask);
}

/** A message as it is when it has just been stored. */
export function modelOf(
  lane: LaneName,
  message: NewMessage,
  order: number,
  dueAt: number,
  fate: ModelMessage['fate'],
): ModelMessage {
  return {
    id: message.message_id,
    lane,
    key: message.stream_id ?? message.message_id,
    isEvent: (message.is_event ?? false) && message.stream_id != null,
    order,
    status: 1,
    attempts: 0,
    dueAt,
    holder: null,
    leaseEnd: 0,
    partition: Number.NaN,
    fate,
  };
}
