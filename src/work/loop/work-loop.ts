// The loop under both workers: report outcomes, claim what there is room for, hand it to the lanes, rest.
// In: outcomes that the lanes queue, wake-ups. Out: flushes of one strategy, one at a time; items to the lanes.
// Called by the composition root. It never runs a handler, never talks to a broker, and never gives up: while
// the database cannot be reached it retries without limit, and the reports stay queued.

import { outageFacts } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { WorkBatch, WorkSource } from '../../message.js';
import type { QueuedUnit, RoomNow, WorkCoordinatorStrategy, WorkUnit } from '../../strategies/index.js';
import type { Lane, PerspectiveLane } from '../lane.js';
import { HeldLeases } from '../leases/held-leases.js';
import type { Listener } from './listener.js';
import { Rest } from './rest.js';
import { Signal } from './signal.js';

interface WorkLoopOptions {
  readonly strategy: WorkCoordinatorStrategy;
  readonly lanes: readonly Lane[];
  /** The bookmarks of perspectives that it works on, if it has any perspective. */
  readonly perspectives?: PerspectiveLane | undefined;
  readonly listener: Listener | undefined;
  readonly pollIntervalMs: number;
  readonly renewSeconds: number;
  readonly logger: Logger;
  /** Called when the database answers again, or no longer answers. */
  readonly onReachable: (isReachable: boolean) => void;
  readonly onLeaseLost: (source: Lane['source'], messageIds: readonly string[]) => void;
  /** Called when nothing is held and nothing was found, and when there is work again. */
  readonly onIdle: (isIdle: boolean) => void;
}

const sources: readonly Lane['source'][] = ['outbox', 'inbox'];
const firstBackoffMs = 50;
const longestBackoffMs = 2_000;

export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #signal = new Signal();
  readonly #rest: Rest;
  readonly #leases: HeldLeases;
  #reportsWait = false;
  /** Lanes that may have something to claim. */
  readonly #mayFind = new Set<Lane['source']>(sources);
  #stopping = false;
  #isIdle = false;
  #backoffMs = 0;
  #awaySince = 0;
  #asked = { outbox: 0, inbox: 0 };
  #handedOut = 0;
  #nextDueAt = Number.POSITIVE_INFINITY;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    const { strategy, lanes, listener, pollIntervalMs, renewSeconds, logger, onLeaseLost } = options;
    this.#leases = new HeldLeases({ strategy, lanes, renewSeconds, logger, onLeaseLost });
    const msUntilDue = () => this.#msUntilDue();
    this.#rest = new Rest({ listener, lanes, pollIntervalMs, signal: this.#signal, msUntilDue });
  }

  start(): void {
    this.#leases.start();
    this.#ended = this.#run();
  }

  /** Queues a unit for the next call, which is made at once. */
  queue(unit: WorkUnit): QueuedUnit {
    const queued = this.#options.strategy.queue(unit);
    this.report();
    return queued;
  }

  /**
   * Queues a unit whose result nothing waits for. After the last call it does nothing: the leases are free by
   * then, or will soon expire.
   */
  tell(unit: WorkUnit): void {
    try {
      this.queue(unit);
    } catch (error) {
      if (!(error instanceof WhizbangError && error.code === 'DISPOSED')) throw error;
    }
  }

  /** Notifies the loop that a report was queued: it rides on the next call, which is made at once. */
  report(): void {
    this.#reportsWait = true;
    this.#lookIn(sources); // the messages behind it in its stream may be due now
    this.#signal.set();
  }

  /** Wakes the loop: something was inserted, or a lane has room again and its streams may have more messages. */
  wake(lanes: readonly Lane['source'][] = sources): void {
    this.#lookIn(lanes);
    this.#signal.set();
  }

  /** Wakes the loop because PostgreSQL has notified it: something was stored, or may have been. */
  notified(): void {
    this.#rest.notified();
    this.wake();
  }

  /** Notes that something was stored while another session keeps the watch. */
  hinted(): void {
    this.#rest.hinted();
  }

  /** Wakes the loop after this time, when a retry becomes due that this instance has reported. */
  wakeIn(seconds: number): void {
    const at = performance.now() + seconds * 1000 + 5;
    if (at >= this.#nextDueAt) return;
    this.#nextDueAt = at;
    this.#signal.set();
  }

  /** Returns the room of all lanes. Called when a call is built, also when a sender makes it. */
  room(): RoomNow {
    const [outbox, inbox] = sources.map((source) => this.#options.lanes.find((it) => it.source === source));
    this.#asked = { outbox: outbox?.room() ?? 0, inbox: inbox?.room() ?? 0 };
    return {
      ...this.#asked,
      spareOutbox: outbox?.spare() ?? 0,
      spareInbox: inbox?.spare() ?? 0,
      perspectives: this.#options.perspectives?.room() ?? 0,
      limits: this.#asked.inbox > 0 ? inbox?.limits?.() : undefined,
    };
  }

  /** Takes what a call of this instance has handed out or refused, also when a sender made the call. */
  take(batch: WorkBatch, sentAt: number): void {
    for (const lane of this.#options.lanes) {
      // Lost leases come first: one answer may report a message as lost and hand it out again.
      const lost = batch.leaseLost.filter(({ source }) => source === lane.source);
      const ids = lost.length === 0 ? [] : lane.forget(lost.map(({ messageId }) => messageId));
      if (ids.length > 0) this.#options.onLeaseLost(lane.source, ids);
      const items = batch[lane.source];
      if (items.length === 0) continue;
      lane.leases.hold(
        items.map(({ messageId }) => messageId),
        sentAt,
      );
      this.#found(items.length, lane.source);
      lane.add(items);
    }
    this.#found(batch.perspectives.length, 'perspective');
    this.#options.perspectives?.add(batch.perspectives);
    if (batch.looksAgain) this.wake();
  }

  #found(count: number, source: WorkSource): void {
    if (count === 0) return;
    this.#handedOut += count;
    this.#rest.found();
    this.#nowIdle(false);
    // The call found as much as was asked for, so there may be more.
    if (source !== 'perspective' && count >= this.#asked[source]) this.#lookIn([source]);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signal.set();
    await this.#ended;
    this.#leases.stop();
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
      else if (this.#callIsDue(now)) await this.#call(now);
      else if (await this.#rest.untilWoken()) this.#lookIn(sources);
    }
  }

  #callIsDue(now: number): boolean {
    return this.#reportsWait || now >= this.#leases.renewalAt || this.#claimIsDue();
  }

  #claimIsDue(): boolean {
    return this.#options.lanes.some((lane) => this.#mayFind.has(lane.source) && lane.wantsMore());
  }

  async #call(now: number): Promise<void> {
    const { strategy, logger } = this.#options;
    this.#leases.dropExpired(); // before a call can hand out the same messages to this instance again
    const renewal = this.#leases.queueRenewal(now);
    const handedOutBefore = this.#handedOut;
    const looks = this.#claimIsDue();
    if (looks) this.#rest.looks();
    this.#reportsWait = false;
    this.#mayFind.clear();
    try {
      const { leaseLost } = await strategy.flush();
      renewal?.done(leaseLost);
      this.#reached();
      const foundNothing = looks && this.#handedOut === handedOutBefore && this.#mayFind.size === 0;
      const isHeld = this.#leases.count > 0 || this.#options.perspectives?.isBusy === true;
      if (foundNothing && !isHeld && !this.#reportsWait) this.#nowIdle(true);
    } catch (error) {
      renewal?.withdraw();
      this.#reportsWait = true;
      this.#lookIn(sources);
      if (this.#backoffMs === 0) {
        this.#awaySince = performance.now();
        logger.warn(
          outageFacts(error),
          'PostgreSQL does not answer or refuses the call; reports stay queued',
        );
        this.#options.onReachable(false);
      }
      this.#backoffMs = Math.min(Math.max(this.#backoffMs * 2, firstBackoffMs), longestBackoffMs);
    }
  }

  #reached(): void {
    if (this.#backoffMs === 0) return;
    this.#backoffMs = 0;
    const seconds = Math.round((performance.now() - this.#awaySince) / 100) / 10;
    // At the same level as the outage: a reader of that warning needs to see its end.
    this.#options.logger.warn({ seconds }, 'PostgreSQL answers again');
    this.#options.onReachable(true);
  }

  #lookIn(lanes: readonly Lane['source'][]): void {
    for (const lane of lanes) this.#mayFind.add(lane);
  }

  /** Returns the time until the next renewal or the next reported retry. */
  #msUntilDue(): number {
    return Math.min(this.#leases.renewalAt, this.#nextDueAt) - performance.now();
  }

  async #pause(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)));
    await this.#call(performance.now());
  }

  #nowIdle(isIdle: boolean): void {
    if (this.#isIdle === isIdle) return;
    this.#isIdle = isIdle;
    this.#options.onIdle(isIdle);
  }
}
