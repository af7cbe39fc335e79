// The loop under both workers: say what is done, ask for what there is room for, hand it to the lanes, rest.
// In: outcomes that the lanes queue, wake-ups. Out: flushes of one strategy, one at a time; items to the lanes.
// Called by the composition root. It never runs a handler, never talks to a broker, and never gives up: when the
// database is away it tries again, for ever, and what has to be said stays queued.
import type { Logger } from '../logger.js';
import type { MessageId, WorkBatch } from '../message.js';
import type { QueuedUnit, WorkCoordinatorStrategy } from '../strategies/index.js';
import { outageFacts } from './describe-error.js';
import type { Lane } from './lane.js';
import type { Listener } from './listener.js';
import { Rest } from './rest.js';
import { Signal } from './signal.js';

export interface WorkLoopOptions {
  readonly strategy: WorkCoordinatorStrategy;
  readonly lanes: readonly Lane[];
  readonly listener: Listener | undefined;
  readonly pollIntervalMs: number;
  readonly renewSeconds: number;
  readonly logger: Logger;
  /** The database answers, or has stopped to. */
  readonly onReachable: (isReachable: boolean) => void;
  readonly onLeaseLost: (source: Lane['source'], messageIds: readonly string[]) => void;
  /** Nothing is held and nothing was found; or there is work again. */
  readonly onIdle: (isIdle: boolean) => void;
}

const sources: readonly Lane['source'][] = ['outbox', 'inbox'];
const firstBackoffMs = 50;
const longestBackoffMs = 2_000;
const leaseCheckMs = 500;

export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #signal = new Signal();
  readonly #rest: Rest;
  #reportsWait = false;
  /** The lanes in which something may be there to claim. */
  readonly #mayFind = new Set<Lane['source']>(sources);
  #stopping = false;
  #isIdle = false;
  #backoffMs = 0;
  #awaySince = 0;
  #asked = { outbox: 0, inbox: 0 };
  #handedOut = 0;
  #nextDueAt = Number.POSITIVE_INFINITY;
  #renewedAt = performance.now();
  #ended: Promise<void> = Promise.resolve();
  #leaseTimer: NodeJS.Timeout | undefined;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#rest = new Rest({ ...options, signal: this.#signal, msUntilDue: () => this.#msUntilDue() });
  }

  start(): void {
    this.#leaseTimer = setInterval(() => this.#dropExpired(), leaseCheckMs);
    this.#leaseTimer.unref();
    this.#ended = this.#run();
  }

  /** A report was queued: it rides on the next call, which is made at once. */
  report(): void {
    this.#reportsWait = true;
    this.#lookIn(sources); // what waited behind it in its stream may be due now
    this.#signal.set();
  }

  /** Something was inserted, or there is room again in a lane whose streams may go on. */
  wake(lanes: readonly Lane['source'][] = sources): void {
    this.#lookIn(lanes);
    this.#signal.set();
  }

  /** Something was stored, or may have been. */
  notified(): void {
    this.#rest.notified();
    this.wake();
  }

  /** Something was stored, and another one keeps the watch. */
  hinted(): void {
    this.#rest.hinted();
  }

  /** Something becomes due after this time: a retry that this instance has reported. */
  wakeIn(seconds: number): void {
    const at = performance.now() + seconds * 1000 + 5;
    if (at >= this.#nextDueAt) return;
    this.#nextDueAt = at;
    this.#signal.set();
  }

  /** Asked when a call is put together, also when a sender makes it. */
  room(): { outbox: number; inbox: number; spareOutbox: number; spareInbox: number } {
    const [outbox, inbox] = sources.map((source) =>
      this.#options.lanes.find((lane) => lane.source === source),
    );
    this.#asked = { outbox: outbox?.room() ?? 0, inbox: inbox?.room() ?? 0 };
    return { ...this.#asked, spareOutbox: outbox?.spare() ?? 0, spareInbox: inbox?.spare() ?? 0 };
  }

  /** What a call of this instance has handed out or refused; also calls that a sender made. */
  take(batch: WorkBatch, sentAt: number): void {
    for (const lane of this.#options.lanes) {
      // First what is lost: one answer may take a message away and hand it out again.
      const lost = batch.leaseLost.filter(({ source }) => source === lane.source);
      const ids = lost.length === 0 ? [] : lane.forget(lost.map(({ messageId }) => messageId));
      if (ids.length > 0) this.#options.onLeaseLost(lane.source, ids);
      const items = batch[lane.source];
      if (items.length === 0) continue;
      lane.leases.hold(
        items.map(({ messageId }) => messageId),
        sentAt,
      );
      this.#handedOut += items.length;
      this.#rest.found();
      this.#nowIdle(false);
      // As much as was asked for: there may be more.
      if (items.length >= this.#asked[lane.source]) this.#lookIn([lane.source]);
      lane.add(items);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signal.set();
    await this.#ended;
    clearInterval(this.#leaseTimer);
    this.#rest.stop();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const now = performance.now();
      if (now >= this.#nextDueAt) {
        this.#nextDueAt = Number.POSITIVE_INFINITY;
        this.#lookIn(sources);
      }
      if (this.#backoffMs > 0) await this.#pause(this.#backoffMs);
      else if (this.#reportsWait || this.#renewalIsDue(now) || this.#claimIsDue()) await this.#call(now);
      else if (await this.#rest.untilWoken()) this.#lookIn(sources);
    }
  }

  #claimIsDue(): boolean {
    return this.#options.lanes.some((lane) => this.#mayFind.has(lane.source) && lane.wantsMore());
  }

  #renewalIsDue(now: number): boolean {
    return now - this.#renewedAt >= this.#options.renewSeconds * 1000 && this.#heldCount() > 0;
  }

  #heldCount(): number {
    return this.#options.lanes.reduce((count, lane) => count + lane.heldCount, 0);
  }

  async #call(now: number): Promise<void> {
    const { strategy, logger } = this.#options;
    this.#dropExpired(); // before anything of it could be handed out to us again
    const renewal = this.#renewalIsDue(now) ? this.#queueRenewal(now) : undefined;
    const handedOutBefore = this.#handedOut;
    const looks = this.#claimIsDue();
    if (looks) this.#rest.looks();
    this.#reportsWait = false;
    this.#mayFind.clear();
    try {
      const { leaseLost } = await strategy.flush();
      for (const { lane, ids } of renewal?.renewed ?? []) {
        for (const { source, messageId } of leaseLost) if (source === lane.source) ids.delete(messageId);
        lane.leases.renewed(ids, now);
      }
      this.#reached();
      const foundNothing = looks && this.#handedOut === handedOutBefore;
      if (foundNothing && this.#heldCount() === 0 && !this.#reportsWait) this.#nowIdle(true);
    } catch (error) {
      renewal?.unit.withdraw();
      this.#reportsWait = true;
      this.#lookIn(sources);
      if (this.#backoffMs === 0) {
        this.#awaySince = performance.now();
        logger.warn(
          outageFacts(error),
          'PostgreSQL does not answer, or refuses; what there is to report stays queued',
        );
        this.#options.onReachable(false);
      }
      this.#backoffMs = Math.min(Math.max(this.#backoffMs * 2, firstBackoffMs), longestBackoffMs);
    }
  }

  #queueRenewal(now: number): Renewal | undefined {
    const { strategy, lanes, renewSeconds } = this.#options;
    this.#renewedAt = now;
    const renewed = lanes.map((lane) => ({ lane, ids: dueForRenewal(lane, renewSeconds) }));
    if (renewed.every(({ ids }) => ids.size === 0)) return undefined;
    const idsOf = (source: Lane['source']) =>
      renewed.flatMap(({ lane, ids }) => (lane.source === source ? [...ids] : []));
    const unit = strategy.queue({
      renewOutboxLeaseIds: idsOf('outbox'),
      renewInboxLeaseIds: idsOf('inbox'),
    });
    return { renewed, unit };
  }

  #reached(): void {
    if (this.#backoffMs === 0) return;
    this.#backoffMs = 0;
    const seconds = Math.round((performance.now() - this.#awaySince) / 100) / 10;
    // As loud as the outage: who has read of that waits for this.
    this.#options.logger.warn({ seconds }, 'PostgreSQL answers again');
    this.#options.onReachable(true);
  }

  #lookIn(lanes: readonly Lane['source'][]): void {
    for (const lane of lanes) this.#mayFind.add(lane);
  }

  /** Until a renewal, or a retry that was reported. */
  #msUntilDue(): number {
    const { renewSeconds } = this.#options;
    const renewalAt =
      this.#heldCount() > 0 ? this.#renewedAt + renewSeconds * 1000 : Number.POSITIVE_INFINITY;
    return Math.min(renewalAt, this.#nextDueAt) - performance.now();
  }

  async #pause(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)));
    await this.#call(performance.now());
  }

  /** The process was stopped, its event loop blocked or the database away for so long that others may have these. */
  #dropExpired(): void {
    const { lanes, logger } = this.#options;
    for (const lane of lanes) {
      const expired = lane.leases.expired();
      if (expired.length === 0) continue;
      for (const id of expired) lane.leases.drop(id);
      const ids = lane.forget(expired);
      if (ids.length === 0) continue;
      logger.warn(
        { source: lane.source, count: ids.length },
        'Leases ran out before they could be renewed: the event loop was blocked, the process stopped, or PostgreSQL away',
      );
      this.#options.onLeaseLost(lane.source, ids);
    }
  }

  #nowIdle(isIdle: boolean): void {
    if (this.#isIdle === isIdle) return;
    this.#isIdle = isIdle;
    this.#options.onIdle(isIdle);
  }
}

/** What a renewal asks for, by lane. */
interface Renewal {
  readonly renewed: readonly { readonly lane: Lane; readonly ids: Set<MessageId> }[];
  readonly unit: QueuedUnit;
}

/** A stream that is just being settled is left for next time, unless its lease is getting old. */
function dueForRenewal(lane: Lane, renewSeconds: number): Set<MessageId> {
  const urgent = new Set(lane.leases.dueForRenewal(renewSeconds * 1.5));
  const due = new Set(lane.leases.dueForRenewal(renewSeconds / 2));
  const renewable = new Set(lane.renewableIds());
  return new Set(lane.heldIds().filter((id) => due.has(id) && (renewable.has(id) || urgent.has(id))));
}
