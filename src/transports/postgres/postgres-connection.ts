import { setTimeout as wait } from 'node:timers/promises';
import { canWrite, schemasOutOfReach, subscribe } from '../../coordinator/index.js';
import { isOutage, type Queryable, quoteSchema, withPooledClient } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { unlessAborted } from '../../time-limits.js';
import type {
  Receiver,
  SendOutcome,
  Subscription,
  TransportConnection,
  TransportHost,
  TransportMessage,
} from '../transport.js';
import { answerMs, type Transfers, transferAll, transfersOver, unavailable } from './transfer.js';
import { UnheardEvents } from './unheard-events.js';

const longestPauseMs = 2_000;

export class PostgresConnection implements TransportConnection {
  readonly #host: TransportHost;
  readonly #schema: string;
  readonly #transfers: Transfers;
  readonly #closed = new AbortController();
  readonly #sending = new Set<Promise<unknown>>();
  readonly #unheard: UnheardEvents;
  /** Consecutive calls that found no database. */
  #outages = 0;

  constructor(host: TransportHost) {
    this.#host = host;
    this.#schema = quoteSchema(host.schema);
    this.#transfers = transfersOver(host.pool, this.#schema, host.instance);
    const tell = (type: string, count: number) => host.onUnheard?.(type, count);
    this.#unheard = new UnheardEvents({ pool: host.pool, schema: this.#schema, tell });
  }

  /**
   * Fails when the database does not answer. Warns of services in this database that this role may not deliver
   * to: sending skips them without an error, so a forgotten grant would otherwise go unnoticed.
   */
  async greet(): Promise<void> {
    const schemas = await this.#ask(schemasOutOfReach);
    if (schemas.length === 0) return;
    this.#host.logger.warn(
      { schemas },
      'This role may not deliver to some whizbang schemas of this database; their services get no messages from this one',
    );
  }

  throwIfClosed(): void {
    this.#closed.signal.throwIfAborted();
  }

  /** `isHeard`: whether another database has the message, so that it is not for nobody. */
  async send(
    messages: readonly TransportMessage[],
    signal: AbortSignal,
    isHeard: (message: TransportMessage) => boolean = () => false,
  ): Promise<readonly SendOutcome[]> {
    this.throwIfClosed();
    signal.throwIfAborted();
    const sending = this.#watch(transferAll(messages, this.#transfers, signal));
    // A statement under way is not cancelled; only the wait for it ends.
    const outcomes = await unlessAborted(signal, sending);
    for (const [i, message] of messages.entries())
      if (outcomes[i]?.kind === 'settled' && !isHeard(message)) this.#unheard.note(message);
    return outcomes;
  }

  /** Tracks a statement until its end, also when the sender no longer waits for it. */
  async #watch<T>(sending: Promise<T>): Promise<T> {
    this.#sending.add(sending);
    try {
      const result = await sending;
      this.#outages = 0;
      return result;
    } catch (error) {
      if (error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE') this.#outages++;
      throw error;
    } finally {
      this.#sending.delete(sending);
    }
  }

  /** Subscribes the service. Nothing is delivered from here: the senders insert into the service's inbox. */
  async receive({ addresses }: Subscription): Promise<Receiver> {
    this.#closed.signal.throwIfAborted();
    const { instanceId } = this.#host.instance;
    await this.#ask((db) => subscribe(db, this.#schema, instanceId, addresses));
    return { stop: async () => {} };
  }

  /**
   * Waits until the database answers. After a failed send it pauses first: a database that answers may still
   * be unable to write.
   */
  async ready(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([this.#closed.signal, signal]);
    for (let failures = this.#outages; ; failures++) {
      ended.throwIfAborted();
      if (failures > 0) await pause(Math.min(25 * 2 ** failures, longestPauseMs), ended);
      if (await unlessAborted(ended, this.#canWrite())) return;
    }
  }

  async #canWrite(): Promise<boolean> {
    try {
      return await this.#ask(canWrite);
    } catch {
      return false;
    }
  }

  /** Waits for the statements under way. Subscriptions stay, because they belong to the service. */
  async close(): Promise<void> {
    this.#closed.abort(
      new WhizbangError('DISPOSED', { message: 'The connection to the transport is closed.' }),
    );
    await Promise.allSettled([...this.#sending, this.#unheard.close()]);
  }

  async #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#host.pool, question, answerMs).catch((error: unknown) => {
      throw isOutage(error) ? unavailable(error) : error;
    });
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
