// The leases of what the lanes hold: renewed while this instance holds them, dropped when they have expired.
// In: the lanes. Out: renewals, which ride on the next call; lost leases. Called by the loop; it never makes
// a call.
import type { Logger } from '../../logger.js';
import type { MessageId, WorkBatch } from '../../message.js';
import type { WorkCoordinatorStrategy } from '../../strategies/index.js';
import type { Lane } from '../lane.js';

interface HeldLeasesOptions {
  readonly strategy: WorkCoordinatorStrategy;
  readonly lanes: readonly Lane[];
  readonly renewSeconds: number;
  readonly logger: Logger;
  readonly onLeaseLost: (source: Lane['source'], messageIds: readonly string[]) => void;
}

/** A renewal that was queued. */
interface Renewal {
  /** Called when the call was committed, with the leases that it refused. */
  done(leaseLost: WorkBatch['leaseLost']): void;
  /** Called when the call failed. */
  withdraw(): void;
}

const checkMs = 500;

export class HeldLeases {
  readonly #options: HeldLeasesOptions;
  #renewedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeldLeasesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.dropExpired(), checkMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get count(): number {
    return this.#options.lanes.reduce((count, lane) => count + lane.heldCount, 0);
  }

  /** Time at which the next renewal is due. */
  get renewalAt(): number {
    return this.count > 0 ? this.#renewedAt + this.#options.renewSeconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /** Queues the renewals that are due, for a call that is made now. */
  queueRenewal(now: number): Renewal | undefined {
    if (now < this.renewalAt) return undefined;
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
    return {
      done: (leaseLost) => {
        for (const { lane, ids } of renewed) {
          for (const { source, messageId } of leaseLost) if (source === lane.source) ids.delete(messageId);
          lane.leases.renewed(ids, now);
        }
      },
      withdraw: () => unit.withdraw(),
    };
  }

  /**
   * Drops expired leases: the process was stopped, its event loop was blocked or the database could not be
   * reached for so long that other instances may hold the messages.
   */
  dropExpired(): void {
    const { lanes, logger } = this.#options;
    for (const lane of lanes) {
      const expired = lane.leases.expired();
      if (expired.length === 0) continue;
      for (const id of expired) lane.leases.drop(id);
      const ids = lane.forget(expired);
      if (ids.length === 0) continue;
      logger.warn(
        { source: lane.source, count: ids.length },
        'Leases ended before they could be renewed: the event loop was blocked, the process stood still, or PostgreSQL did not answer',
      );
      this.#options.onLeaseLost(lane.source, ids);
    }
  }
}

/** Ids to renew. A stream that is being settled waits for the next time, unless its lease is old. */
function dueForRenewal(lane: Lane, renewSeconds: number): Set<MessageId> {
  const urgent = new Set(lane.leases.dueForRenewal(renewSeconds * 1.5));
  const due = new Set(lane.leases.dueForRenewal(renewSeconds / 2));
  const renewable = new Set(lane.renewableIds());
  return new Set(lane.heldIds().filter((id) => due.has(id) && (renewable.has(id) || urgent.has(id))));
}
