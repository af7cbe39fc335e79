// The limits of all receptors of an instance, by message type. A service without limits has none of this: no
// item is concerned, and no call carries a name.
// In: items that were handed out. Out: a place for each, or its outcome; what the next call asks for.
// Called by the consumer worker.
import { isOutage } from '../../database/index.js';
import { describeError, outageFacts } from '../../describe-error.js';
import type { Logger } from '../../logger.js';
import type { WorkItem } from '../../message.js';
import { isTooLong, longestName } from '../../messages/index.js';
import { invalidOption } from '../../options.js';
import type { Receptor } from '../../receptors/index.js';
import type { Entered, ItemLimits } from '../handle/item-limits.js';
import { failed } from '../handle/receptor-error.js';
import type { ReceptorRegistry } from '../handle/receptor-registry.js';
import { readFor } from '../handle/task.js';
import type { LimitStore } from './limit-store.js';
import { Limiter } from './limiter.js';

interface LimitsOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly store: LimitStore;
  readonly hands: number;
  /** Opens sealed fields. */
  readonly open: (item: WorkItem) => Promise<WorkItem>;
  readonly wake: () => void;
  readonly logger: Logger;
}

/** How often it looks for what waits at limits with a key. */
const sweepMs = 1_000;
/** How many sweeps lie between two removals of rows that nobody uses. */
const sweepsPerRemoval = 60;

/** What PostgreSQL could not keep: it would refuse every call that meets it, not only this message. */
function faultOf(key: unknown): string | undefined {
  if (typeof key !== 'string') return typeof key;
  if (key.includes('\0')) return 'a text with a NUL character';
  return isTooLong(key) ? `more than ${longestName} bytes` : undefined;
}

class BadKey extends Error {}

export class Limits<Tx> implements ItemLimits {
  readonly #options: LimitsOptions<Tx>;
  readonly #limiters = new Map<string, Limiter<Tx>>();
  /** The names under which messages of a limiter come: the type, and those it had before. */
  readonly #handlers = new Map<Limiter<Tx>, string[]>();
  #sweeping: NodeJS.Timeout | undefined;
  #sweeps = 0;
  #isFailing = false;

  constructor(options: LimitsOptions<Tx>) {
    this.#options = options;
    const byReceptor = new Map<Receptor<Tx>, Limiter<Tx>>();
    for (const [type, receptor] of options.registry.limited()) {
      const limiter = byReceptor.get(receptor) ?? this.#limiterOf(receptor);
      byReceptor.set(receptor, limiter);
      this.#limiters.set(type, limiter);
      this.#handlers.set(limiter, [...(this.#handlers.get(limiter) ?? []), type]);
    }
  }

  concern({ destination }: WorkItem): boolean {
    return this.#limiters.has(destination);
  }

  added({ destination, messageId }: WorkItem): void {
    this.#limiters.get(destination)?.added(messageId);
  }

  settled({ destination, messageId }: WorkItem): void {
    this.#limiters.get(destination)?.settled(messageId);
  }

  /** What a call asks for at the limits. Undefined: nothing. */
  asks(): Readonly<Record<string, number>> | undefined {
    if (this.#limiters.size === 0) return undefined;
    this.#beginSweeping();
    const names: Record<string, number> = {};
    for (const [limiter, handlers] of this.#handlers) limiter.ask(handlers, names);
    // Those without room, too: so explain can tell a limit from a handler that nobody has.
    for (const handler of this.#limiters.keys()) names[handler] ??= 0;
    return names;
  }

  /** Lets an item begin, or returns its outcome. */
  async enter(item: WorkItem): Promise<Entered> {
    try {
      const entered = await this.#limiters.get(item.destination)?.enter(item);
      this.#isFailing = false;
      return entered ?? { leave: () => {} };
    } catch (error) {
      if (error instanceof BadKey) return { outcome: failed(this.#receptorOf(item), error.cause, false) };
      this.#limiters.get(item.destination)?.pause();
      // Once, and not for an outage, which the loop reports: a right may be missing since an upgrade.
      const level = this.#isFailing || isOutage(error) ? 'debug' : 'error';
      this.#isFailing = true;
      const facts = { receptor: this.#receptorOf(item)?.name, ...outageFacts(error) };
      this.#options.logger[level](facts, 'A limit could not be asked; its messages wait');
      return { outcome: { kind: 'released' } };
    }
  }

  stop(): void {
    clearInterval(this.#sweeping);
    for (const limiter of this.#handlers.keys()) limiter.stop();
  }

  #limiterOf(receptor: Receptor<Tx>): Limiter<Tx> {
    const { store, hands, wake } = this.#options;
    const limit = receptor.limit as NonNullable<typeof receptor.limit>;
    const keyOf = (item: WorkItem) => this.#keyOf(item, receptor);
    return new Limiter<Tx>({ receptor, limit, store, hands, wake, keyOf });
  }

  #receptorOf({ destination }: WorkItem): Receptor<Tx> | undefined {
    return this.#options.registry.receptorsFor(destination).find(({ limit }) => limit !== undefined);
  }

  async #keyOf(item: WorkItem, receptor: Receptor<Tx>): Promise<string | undefined> {
    let payload: unknown;
    try {
      payload = (await readFor(await this.#options.open(item), receptor, true)).payload;
    } catch {
      return undefined;
    }
    try {
      const key: unknown = receptor.limit?.key?.(payload);
      const fault = faultOf(key);
      if (fault === undefined) return key as string;
      const owner = `receptor(${receptor.definition.type})`;
      throw invalidOption(owner, 'key', `key has returned ${fault}`, 'Let it return a short text.');
    } catch (cause) {
      throw new BadKey('The function key has failed.', { cause });
    }
  }

  #beginSweeping(): void {
    if (this.#sweeping !== undefined) return;
    if (![...this.#handlers.keys()].some(({ hasKey, isAcross }) => hasKey || isAcross)) return;
    this.#sweeping = setInterval(() => void this.#sweep(), sweepMs).unref();
  }

  async #sweep(): Promise<void> {
    const removes = this.#sweeps++ % sweepsPerRemoval === 0;
    for (const [limiter, handlers] of this.#handlers) {
      try {
        if (limiter.hasKey) await limiter.sweep(handlers);
        if (limiter.isAcross && removes) await limiter.removeIdle();
      } catch (error) {
        this.#options.logger.debug({ error: describeError(error) }, 'Limits could not be looked through');
      }
    }
  }
}
