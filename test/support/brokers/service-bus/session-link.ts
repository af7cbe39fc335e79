import rhea, { type AmqpError, type Delivery, type Sender } from 'rhea';
import type { SessionEntity } from './session-entity.js';
import type { StoredMessage } from './stored-message.js';

const sessionFilter = 'com.microsoft:session-filter';
/** .NET's ticks of 100 ns since the year 1, as Service Bus tells times in the properties of a link. */
const ticksOf = (ms: number) => (BigInt(ms) + 62_135_596_800_000n) * 10_000n;

/** rhea has these, and its types do not. */
const outcomes = rhea.message as unknown as Record<
  'accepted' | 'rejected',
  (fields?: object) => { described(): never }
>;

/** A receiver that holds a session: messages of it in order, each until it is completed or the lock ends. */
export class SessionLink {
  lockedUntil = 0;
  #expiry: NodeJS.Timeout | undefined;
  #tag = 0;
  readonly #deliveries = new Map<string, StoredMessage>();

  constructor(
    readonly link: Sender,
    readonly entity: SessionEntity,
    readonly sessionId: string,
  ) {}

  /** Answers the attach, which may have waited for a session. */
  open(): void {
    const { link } = this;
    this.renew();
    const source = { address: this.entity.path, filter: { [sessionFilter]: this.sessionId } };
    link.set_source(source as never);
    const attach = (link as unknown as { local: { attach: Record<string, unknown> } }).local.attach;
    const ticks = rhea.types.wrap_long(bytesOf(ticksOf(this.lockedUntil)) as never);
    attach.properties = { 'com.microsoft:locked-until-utc': ticks };
    link.on('sender_flow', () => this.push());
    link.on('accepted', ({ delivery }) => this.#settle(delivery as Delivery, 'accepted'));
    link.on('modified', ({ delivery }) => this.#settle(delivery as Delivery, 'modified'));
    link.on('rejected', ({ delivery }) => this.#settle(delivery as Delivery, 'rejected'));
    link.open();
  }

  renew(): number {
    clearTimeout(this.#expiry);
    this.lockedUntil = Date.now() + this.entity.lockMs;
    this.#expiry = setTimeout(() => this.expire(), this.entity.lockMs);
    this.#expiry.unref();
    return this.lockedUntil;
  }

  /** The lock ran out: what was locked counts as delivered once more, and the link is detached. */
  expire(): void {
    this.entity.release(this, { counts: true });
    this.link.close(lockLost(this.sessionId));
  }

  forget(): void {
    clearTimeout(this.#expiry);
  }

  /** Sends what is available, as far as the receiver's credit goes. */
  push(): void {
    const { link } = this;
    while ((link as unknown as { credit: number }).credit > 0) {
      const next = this.entity.nextOf(this.sessionId);
      if (next === undefined) break;
      next.lockedBy = this;
      const tag = `${++this.#tag}`.padStart(16, '0');
      this.#deliveries.set(tag, next);
      const message_annotations = {
        'x-opt-sequence-number': next.sequence,
        'x-opt-enqueued-time': new Date(next.enqueuedAt),
        'x-opt-locked-until': new Date(this.lockedUntil),
      };
      const message = { ...next.message, delivery_count: next.deliveryCount, message_annotations };
      this.link.send(message as never, Buffer.from(tag));
    }
    if ((this.link as unknown as { _draining: boolean })._draining) this.link.set_drained(true);
  }

  #settle(delivery: Delivery, outcome: 'accepted' | 'modified' | 'rejected'): void {
    const stored = this.#deliveries.get(String(delivery.tag));
    if (stored === undefined || stored.lockedBy !== this) {
      const error = lockLost(this.sessionId);
      delivery.update(true, outcomes.rejected({ error }).described());
      return;
    }
    this.#deliveries.delete(String(delivery.tag));
    if (outcome === 'accepted') this.entity.complete(stored);
    else if (outcome === 'rejected') this.entity.deadLetter(stored, 'by the receiver');
    else this.entity.giveBack(stored);
    delivery.update(true, outcomes.accepted().described());
    this.push();
  }
}

export const sessionIdOf = (link: Sender): string | undefined | null => {
  const filter = (link.source as { filter?: Record<string, unknown> } | undefined)?.filter;
  if (filter === undefined || !(sessionFilter in filter)) return null;
  return (filter[sessionFilter] as string | null) ?? undefined;
};

const lockLost = (sessionId: string): AmqpError => ({
  condition: 'com.microsoft:session-lock-lost',
  description: `The session lock was lost. Session: ${sessionId}`,
});

function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
