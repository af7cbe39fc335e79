// Stores deliveries of the transport in the inbox, in the order in which they arrive, many at a time. A
// delivery is acknowledged after its call was committed, never before.
// In: deliveries. Out: new inbox messages that ride on the loop's calls. Called by the transport.
// The transport's prefetch bounds the memory, because a delivery that is not stored is not acknowledged.
import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { NewInboxMessage } from '../../message.js';
import { readPriority } from '../../messages/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import type { Delivery, TransportMessage } from '../../transports/index.js';
import { ArrivalOrder } from './arrival-order.js';
import { isUnreadable, storeUnreadable, unreadable } from './unreadable.js';

interface DeliveryIntakeOptions {
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly hasReceptor: (type: string) => boolean;
  /** Told when a message was stored that may have arrived out of order. */
  readonly onLate?: () => void;
  readonly logger: Logger;
}

const refusedPauseMs = 1_000;

export class DeliveryIntake {
  readonly #options: DeliveryIntakeOptions;
  readonly #order = new ArrivalOrder();
  readonly #underWay = new Set<Promise<void>>();
  readonly #waiting = new Map<Delivery, QueuedUnit>();
  readonly #unknownTypes = new Set<string>();
  readonly #abandoned = new AbortController();

  constructor(options: DeliveryIntakeOptions) {
    this.#options = options;
  }

  take(delivery: Delivery): void {
    const stored = this.#store(delivery).finally(() => {
      this.#underWay.delete(stored);
      this.#waiting.delete(delivery);
    });
    this.#underWay.add(stored);
  }

  /** Resolves when all deliveries are stored and acknowledged, or rejected. */
  async whenIdle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Gives back to the transport what no call has taken, because there is no time left. */
  abandon(): void {
    this.#abandoned.abort();
    for (const unit of this.#waiting.values()) unit.withdraw();
  }

  async #store(delivery: Delivery): Promise<void> {
    const { logger } = this.#options;
    try {
      const arrivedAfter = this.#order.take(delivery.content);
      const message = newMessage(delivery.content);
      await this.#carry(delivery, arrivedAfter === undefined ? message : { ...message, arrivedAfter });
      this.#order.stored(delivery.content);
      if (arrivedAfter !== undefined) this.#options.onLate?.();
    } catch (error) {
      if (!blamesTheMessage(error)) {
        await this.#reject(delivery);
        return;
      }
      logger.warn(
        { error: describeError(error) },
        'PostgreSQL refused a message that the transport delivered; it is kept as a dead letter',
      );
      const bytes = Buffer.from(JSON.stringify(delivery.content));
      if (!(await this.#setAside(delivery, storeUnreadable((error as Error).message, bytes)))) {
        await this.#reject(delivery);
        return;
      }
    }
    try {
      await delivery.acknowledge();
    } catch (error) {
      logger.debug(
        { error: describeError(error) },
        'An acknowledgement failed; the transport delivers the message again, and the duplicate is ignored',
      );
    }
  }

  async #reject(delivery: Delivery): Promise<void> {
    this.#order.rejected(delivery.content);
    await delivery.reject().catch(() => {});
  }

  /**
   * Stores a refused message as a dead letter, as often as that is refused too. It is not rejected: later messages of
   * its stream may be stored already, and it would come again behind them. Returns false when the instance stops and has
   * no time left.
   */
  async #setAside(delivery: Delivery, deadLetter: NewInboxMessage): Promise<boolean> {
    const { signal } = this.#abandoned;
    while (!signal.aborted) {
      try {
        await this.#carry(delivery, deadLetter);
        return true;
      } catch (error) {
        if (!blamesTheMessage(error)) return false;
        await pause(refusedPauseMs, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }

  #carry(delivery: Delivery, message: NewInboxMessage): Promise<void> {
    this.#warnOfUnknown(message.eventType);
    const unit = this.#options.queue({ newInboxMessages: [message] });
    this.#waiting.set(delivery, unit);
    return unit.carried;
  }

  /** Logs a type without a receptor, once. Its messages wait in the inbox: a newer instance may have one. */
  #warnOfUnknown(type: string): void {
    const { hasReceptor, logger } = this.#options;
    if (type === unreadable || hasReceptor(type) || this.#unknownTypes.has(type)) return;
    if (this.#unknownTypes.size < 1_000) this.#unknownTypes.add(type);
    logger.warn({ type }, 'A message arrived for which this instance has no receptor; it waits in the inbox');
  }
}

function newMessage(content: Delivery['content']): NewInboxMessage {
  if (isUnreadable(content)) return storeUnreadable(content.unreadable, content.bytes);
  const { messageId, type, payload, metadata, scope, streamId }: TransportMessage = content;
  const row = {
    messageId,
    handlerName: type,
    eventType: type,
    eventData: payload,
    metadata,
    scope,
    streamId,
  };
  const priority = readPriority(metadata);
  const ranked = priority === undefined ? row : { ...row, priority };
  // An event is one of this service too: it is in its store before its receptors run.
  const isEvent = streamId != null && (metadata as { kind?: unknown } | undefined)?.kind === 'event';
  return isEvent ? { ...ranked, isEvent } : ranked;
}

/**
 * Whether PostgreSQL refused this very message, for example by an exception of a trigger. The transport would
 * deliver it again without end.
 */
function blamesTheMessage(error: unknown): boolean {
  return !(error instanceof WhizbangError && error.code === 'DISPOSED');
}
