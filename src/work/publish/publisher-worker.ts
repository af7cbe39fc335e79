// The outbox side: claimed messages go to the transport, one batch at a time, in the order of their streams.
// In: outbox items. Out: sends, and reports of their outcomes.
// Called by the loop. It never reports a message as published before the transport has confirmed it.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type MessageFailure,
  type MessageId,
  MessageProcessingStatus,
  type WorkItem,
} from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import type { SendOutcome, TransportConnection } from '../../transports/index.js';
import type { Lane } from '../lane.js';
import type { LeaseClock } from '../leases/lease-clock.js';
import { Outgoing } from './outgoing.js';

interface PublisherWorkerOptions {
  readonly connection: TransportConnection;
  readonly leases: LeaseClock;
  /** Largest number of items that it holds. */
  readonly capacity: number;
  readonly batchSize: number;
  /** Returns the report for a message that the transport refused. */
  readonly failureOf: (item: WorkItem, error: unknown, isFinal: boolean) => MessageFailure;
  /** Returns the report for a message that waits, without an attempt being counted. */
  readonly waitOf: (item: WorkItem, error: unknown, retryAfterSeconds: number) => MessageFailure;
  readonly telemetry?: SendingTelemetry | undefined;
  readonly report: (unit: WorkUnit) => void;
  /** Called when the lane has room again. */
  readonly onRoom: () => void;
  /** The name of the sending service. */
  readonly service: string;
  /** Called when the transport can be reached again, or, with the error, can no longer be reached. */
  readonly onReachable: (error?: unknown) => void;
  /** Called for each message that the transport has taken, with how long its batch took. */
  readonly onPublished: (item: WorkItem, durationMs: number) => void;
}

/** Records what is given to the transport. */
interface SendingTelemetry {
  send(
    items: readonly WorkItem[],
    run: () => Promise<readonly SendOutcome[]>,
  ): Promise<readonly SendOutcome[]>;
}

const firstWaitMs = 10;
const longestWaitMs = 1_000;

export class PublisherWorker implements Lane {
  readonly source = 'outbox';
  readonly #options: PublisherWorkerOptions;
  readonly #outgoing = new Outgoing();
  /** Items that wait, in the order of their streams. Those that are being sent are in `#sending`. */
  #waiting: WorkItem[] = [];
  #sending = new Map<MessageId, WorkItem>();
  #taking = true;
  #isPumping = false;
  #pumping: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  /** Ends the wait for a transport that cannot be reached. */
  readonly #stopWaiting = new AbortController();

  constructor(options: PublisherWorkerOptions) {
    this.#options = options;
  }

  get leases(): LeaseClock {
    return this.#options.leases;
  }

  room(): number {
    return this.#taking ? Math.max(this.#options.capacity - this.heldCount, 0) : 0;
  }

  /** Counts the places in the next batch: it is sent at once after the current one. */
  spare(): number {
    return Math.min(this.room(), Math.max(this.#options.batchSize - this.#waiting.length, 0));
  }

  /**
   * Returns true when half of the capacity is free: a full batch costs the database as little as a small one.
   */
  wantsMore(): boolean {
    return this.room() >= Math.ceil(this.#options.capacity / 2);
  }

  add(items: readonly WorkItem[]): void {
    if (!this.#taking) {
      this.#release(items); // their call was under way when this worker stopped
      return;
    }
    this.#outgoing.number(items);
    this.#waiting.push(...items);
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#pumping = this.#pump();
  }

  get heldCount(): number {
    return this.#waiting.length + this.#sending.size;
  }

  heldIds(): readonly MessageId[] {
    return [...this.#sending.keys(), ...this.#waiting.map(({ messageId }) => messageId)];
  }

  renewableIds(): readonly MessageId[] {
    return this.heldIds();
  }

  /**
   * Drops items whose leases are lost. An item that is being sent is not cancelled: its report will be
   * refused, and it is not sent a second time. Items that wait behind a lost one in its stream are given
   * back: the new lease holder of the stream sends them after it.
   */
  forget(messageIds: readonly MessageId[]): readonly MessageId[] {
    const lost = new Set(messageIds);
    for (const id of lost) this.#options.leases.drop(id);
    const stopped = new Set<string>();
    for (const item of this.#sending.values()) if (lost.has(item.messageId)) stopped.add(streamOf(item));
    const held: MessageId[] = [];
    this.#waiting = this.#waiting.filter((item) => {
      if (!lost.has(item.messageId)) return true;
      stopped.add(streamOf(item));
      held.push(item.messageId);
      return false;
    });
    this.#giveBackWaiting(stopped);
    return held;
  }

  stopTaking(): void {
    this.#taking = false;
    this.#stopWaiting.abort();
    this.#release(this.#waiting.splice(0));
  }

  abandon(): void {
    this.#stop.abort();
    this.#release([...this.#sending.values()]);
    this.#sending.clear();
  }

  async whenIdle(): Promise<void> {
    await this.#pumping;
  }

  async #pump(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.batchSize);
      this.#sending = new Map(batch.map((item) => [item.messageId, item]));
      await this.#send();
      this.#sending.clear();
      if (this.wantsMore()) this.#options.onRoom();
    }
    // In the same turn as the check of `#waiting`: an `add` that follows has to see that no pump runs.
    this.#isPumping = false;
  }

  async #send(): Promise<void> {
    const { connection, service, onReachable, telemetry } = this.#options;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const items = this.#takeSafe();
      if (items.length === 0) return;
      try {
        const begunAt = performance.now();
        const messages = items.map((item) => this.#outgoing.message(item, service));
        const send = () => connection.send(messages, this.#stop.signal);
        const outcomes = await (telemetry?.send(items, send) ?? send());
        if (waitMs > firstWaitMs) onReachable();
        this.#settle(items, outcomes, performance.now() - begunAt);
        return;
      } catch (error) {
        if (waitMs === firstWaitMs) onReachable(error);
        // The batch is kept, with its leases renewed, and sent again unchanged, so that nothing overtakes it.
        await untilReady(connection, this.#stopWaiting.signal, waitMs);
        if (!this.#taking) {
          this.#release([...this.#sending.values()]);
          return;
        }
      }
    }
  }

  /** Returns the items that may be sent: none of a stream behind one whose lease may have ended. */
  #takeSafe(): readonly WorkItem[] {
    const stopped = new Set<string>();
    const safe: WorkItem[] = [];
    const behind: WorkItem[] = [];
    for (const item of this.#sending.values()) {
      if (stopped.has(streamOf(item))) behind.push(item);
      else if (this.#options.leases.isSafe(item.messageId)) safe.push(item);
      else stopped.add(streamOf(item));
    }
    this.#release(behind);
    this.#giveBackWaiting(stopped);
    return safe;
  }

  #giveBackWaiting(streams: ReadonlySet<string>): void {
    if (streams.size === 0) return;
    const behind = this.#waiting.filter((item) => streams.has(streamOf(item)));
    this.#waiting = this.#waiting.filter((item) => !streams.has(streamOf(item)));
    this.#release(behind);
  }

  #settle(items: readonly WorkItem[], outcomes: readonly SendOutcome[], durationMs: number): void {
    const { leases, failureOf, waitOf, report, onPublished } = this.#options;
    const completed: MessageId[] = [];
    const failures: MessageFailure[] = [];
    const stopped = new Set<string>();
    const heldBack: WorkItem[] = [];
    for (const [i, item] of items.entries()) {
      if (!this.#sending.has(item.messageId)) continue; // abandoned, and given back
      const outcome: SendOutcome = outcomes[i] ?? { kind: 'held-back' };
      if (outcome.kind === 'sent') completed.push(item.messageId);
      else if (outcome.kind === 'failed')
        failures.push(failureOf(item, outcome.error, outcome.final ?? false));
      else if (outcome.kind === 'held-back' && outcome.retryAfterSeconds === undefined) heldBack.push(item);
      else if (outcome.kind === 'held-back')
        failures.push(waitOf(item, outcome.error, outcome.retryAfterSeconds as number));
      leases.drop(item.messageId);
      const isSent = outcome.kind === 'sent' || (outcome.kind === 'settled' && outcome.lost !== true);
      if (isSent) onPublished(item, durationMs);
      if (outcome.kind === 'failed' || outcome.kind === 'held-back') stopped.add(streamOf(item));
    }
    if (completed.length > 0) {
      const status = MessageProcessingStatus.Published;
      report({ outboxCompletions: completed.map((messageId) => ({ messageId, status })) });
    }
    for (const failure of failures) report({ outboxFailures: [failure] });
    this.#release(heldBack);
    this.#giveBackWaiting(stopped);
  }

  #release(items: readonly WorkItem[]): void {
    if (items.length === 0) return;
    for (const { messageId } of items) {
      this.#options.leases.drop(messageId);
      this.#sending.delete(messageId);
    }
    this.#options.report({ outboxCompletions: items.map(({ messageId }) => ({ messageId, status: 0 })) });
  }
}

const streamOf = (item: WorkItem) => item.streamId ?? item.messageId;

/**
 * Pauses before it asks: a transport that reports ready at once and fails again must not cause a tight loop.
 */
async function untilReady(
  connection: TransportConnection,
  signal: AbortSignal,
  waitMs: number,
): Promise<void> {
  await pause(waitMs, undefined, { signal }).catch(() => {});
  await connection.ready(signal).catch(() => {});
}
