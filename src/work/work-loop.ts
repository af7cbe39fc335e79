// The loop under both workers: say what is done, ask for what there is room for, hand it to the lanes, sleep.
// In: outcomes that the lanes queue, wake-ups. Out: flushes of one strategy, one at a time; items to the lanes.
// Called by the composition root. It never runs a handler, never talks to a broker, and never gives up: when the
// database is away it tries again, for ever, and what has to be said stays queued.
import type { Logger } from '../logger.js';
import type { MessageId, WorkBatch } from '../message.js';
import type { QueuedUnit, WorkCoordinatorStrategy } from '../strategies/index.js';
import { outageFacts } from './describe-error.js';
import type { Lane } from './lane.js';
import type { Listener, Sleep } from './listener.js';
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
/** Pauses between two tries to fall asleep, when somebody has a transaction open that has stored something. */
const longestBusyPauseMs = 50;
/** Woken so often in a row without finding anything: what is stored now cannot be had, so it can wait a little. */
const vainWakesAllowed = 2;
const longestVainPauseMs = 16;
/** So long whoever keeps the watch has time to see to what was stored, before others look. */
const hintMs = 100;
const leaseCheckMs = 500;
const firstPollMs = 100;

export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #signal = new Signal();
  #reportsWait = false;
  /** The lanes in which something may be there to claim. */
  readonly #mayFind = new Set<Lane['source']>(sources);
  /** `able`: it fell asleep when everything that may come could be begun at once. */
  #sleep: { readonly kind: Sleep | 'awake'; readonly isAble: boolean } = awake;
  /** Since the last look. */
  #wasNotified = false;
  /** Since it fell asleep. */
  #wasTold = false;
  #stopping = false;
  #isIdle = false;
  #backoffMs = 0;
  #vainWakes = 0;
  #awaySince = 0;
  #vainPauseMs = 0;
  #busyPauseMs = 0;
  #pollIsDue = false;
  #hintTimer: NodeJS.Timeout | undefined;
  /** Grows to the poll interval while nothing happens: what somebody had locked at the last look is soon looked at again. */
  #pollMs = firstPollMs;
  #asked = { outbox: 0, inbox: 0 };
  #handedOut = 0;
  #nextDueAt = Number.POSITIVE_INFINITY;
  #renewedAt = performance.now();
  #ended: Promise<void> = Promise.resolve();
  #leaseTimer: NodeJS.Timeout | undefined;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
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

  /** `sleepsOn`: whatever is stored from now on notifies us again. */
  notified(sleepsOn: boolean): void {
    if (!sleepsOn) this.#sleep = awake;
    this.#wasNotified = true;
    this.#wasTold = true;
    this.#pollMs = firstPollMs;
    this.wake();
  }

  /** Something was stored, and another one keeps the watch. It may be stuck: a look soon, but not for every message. */
  hinted(): void {
    this.#hintTimer ??= setTimeout(
      () => {
        this.#hintTimer = undefined;
        this.#pollIsDue = true;
        this.#signal.set();
      },
      hintMs * (1 + Math.random()),
    ).unref();
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
      this.#vainWakes = 0;
      this.#vainPauseMs = 0;
      this.#pollMs = firstPollMs;
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
    clearTimeout(this.#hintTimer);
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
      else await this.#rest();
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
    if (looks && this.#wasNotified) this.#countWake();
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

  /** In vain, until something is handed out. */
  #countWake(): void {
    this.#wasNotified = false;
    const tooMany = ++this.#vainWakes - vainWakesAllowed;
    if (tooMany > 0) this.#vainPauseMs = Math.min(2 ** (tooMany - 1), longestVainPauseMs);
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

  /** Falls asleep, looks once more, and then waits to be woken, for the next retry, or for the next poll. */
  async #rest(): Promise<void> {
    const { listener, lanes, pollIntervalMs } = this.#options;
    const isFull = !lanes.some((lane) => lane.wantsMore());
    const isAble = lanes.every((lane) => lane.spare() > 0);
    if (listener !== undefined) {
      if (this.#vainPauseMs > 0) return this.#pauseAfterVainWakes(listener);
      if (this.#busyPauseMs > 0 && !isFull && (await this.#wait(this.#busyPauseMs))) return;
      if (this.#hasToFallAsleep(isAble, isFull)) return this.#fallAsleep(listener, isAble);
      listener.rest();
    }
    const isWoken = !this.#pollIsDue && (await this.#wait(Math.min(this.#pollMs, pollIntervalMs)));
    if (isWoken && !this.#pollIsDue) return;
    this.#pollIsDue = false;
    this.#pollMs = Math.min(this.#pollMs * 2, pollIntervalMs);
    if (isFull) return;
    // Whoever covered us may be gone. The poll is the look after falling asleep, so that it is one call and not two.
    if (listener !== undefined) await this.#fallAsleep(listener, isAble);
    this.#lookIn(sources);
  }

  #hasToFallAsleep(isAble: boolean, isFull: boolean): boolean {
    const { kind, isAble: wasAble } = this.#sleep;
    if (kind === 'deaf') return false; // it polls
    if (kind === 'awake' || kind === 'busy') return !isFull;
    if (kind === 'passed') return isAble;
    if (isAble) return !wasAble;
    // Another one may be able by now: it tries again to pass the watch on, when something was stored.
    return wasAble || this.#wasTold;
  }

  async #fallAsleep(listener: Listener, isAble: boolean): Promise<void> {
    const before = this.#sleep;
    const kind = await listener.fallAsleep(isAble);
    this.#wasTold = false;
    this.#sleep = { kind, isAble };
    this.#busyPauseMs =
      kind === 'busy' ? Math.min(Math.max(this.#busyPauseMs * 2, 1), longestBusyPauseMs) : 0;
    // Asleep all the time: there is nothing that it was not told of. Passed: that one looks.
    if (kind === 'deaf' || kind === 'passed' || (kind === 'asleep' && before.kind === 'asleep')) return;
    this.#lookIn(sources);
  }

  /** Nobody notifies us meanwhile; what happens here ends it. */
  async #pauseAfterVainWakes(listener: Listener): Promise<void> {
    const ms = this.#vainPauseMs;
    this.#vainPauseMs = 0;
    listener.wakeUp();
    this.#sleep = awake;
    await this.#wait(ms);
  }

  #lookIn(lanes: readonly Lane['source'][]): void {
    for (const lane of lanes) this.#mayFind.add(lane);
  }

  async #wait(timeoutMs: number): Promise<boolean> {
    const now = performance.now();
    const untilRenewal =
      this.#heldCount() > 0 ? this.#renewedAt + this.#options.renewSeconds * 1000 - now : timeoutMs;
    const untilDue = this.#nextDueAt - now;
    const ms = Math.max(Math.min(timeoutMs, untilRenewal, untilDue), 1);
    return (await this.#signal.wait(ms)) || ms < timeoutMs;
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

const awake = { kind: 'awake', isAble: true } as const;

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
