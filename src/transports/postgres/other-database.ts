// A database beside the service's own, as one instance sees it: there or away, and what it listens to.
// In: messages in order. Out: what became of each there, or that it is away. Called by DatabasesConnection.
// It is asked by its own probe while it is away, so no message pays for finding that out. What it was last known to
// listen to is kept, so that messages for others go on.
import { setTimeout as wait } from 'node:timers/promises';
import { deliver, type ReceivedRow } from '../../coordinator/index.js';
import {
  type ConnectionPool,
  isOutage,
  quoteSchema,
  SmallPool,
  withPooledClient,
} from '../../database/index.js';
import { outageFacts } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { wasSent } from '../order/waves.js';
import type { SendOutcome, TransportMessage } from '../transport.js';
import type { DatabaseEntry } from './database-options.js';
import { explained, greetDatabase, isRefusal } from './greet-database.js';

/** What became of a message at one database. `heard`: it listens to the address, and has the message. */
export type Delivered = 'heard' | 'unheard' | Extract<SendOutcome, { kind: 'failed' }>;

/** Time limit for an answer. Meanwhile the worker sends nothing else, so it is short. */
const answerMs = 5_000;
const connections = 2;
const [firstProbeMs, longestProbeMs] = [100, 5_000];
const [shortestWaitSeconds, longestWaitSeconds] = [0.5, 30];
const mostTries = 4;

export class OtherDatabase {
  readonly entry: DatabaseEntry;
  readonly #schema: string;
  readonly #logger: Logger;
  readonly #onChange: () => void;
  readonly #own: SmallPool | undefined;
  readonly #pool: ConnectionPool;
  readonly #closed = new AbortController();
  readonly #listens = new Map<string, boolean>();
  /** Why it is away, and since when. It counts as away until it was greeted. */
  #away: { readonly error: unknown; readonly since: number } | undefined;
  /** How often it went away since messages got through. */
  #outages = 0;

  constructor(entry: DatabaseEntry, logger: Logger, onChange: () => void) {
    const { given, name } = entry;
    this.entry = entry;
    this.#schema = quoteSchema(entry.schema);
    this.#logger = logger;
    this.#onChange = onChange;
    if (given.pool !== undefined) this.#pool = given.pool;
    else {
      const setting = `databases.${name}.connectionString`;
      const { connectionString, ssl } = given as { connectionString: string; ssl?: boolean };
      const tls = ssl !== undefined && { ssl };
      this.#own = new SmallPool({ connectionString, ...tls, setting, max: connections, connectMs: answerMs });
      this.#pool = this.#own;
    }
  }

  /** Rejects when a retry cannot help. A database that is away is looked for from now on. */
  async open(): Promise<void> {
    try {
      await this.#greet();
    } catch (error) {
      if (isRefusal(error)) throw error;
      this.#goAway(error);
    }
  }

  get isAway(): boolean {
    return this.#away !== undefined;
  }

  /** The error with which it went away. */
  get error(): unknown {
    return this.#away?.error;
  }

  /**
   * The outcome of a message that waits for it. The time grows with the outage, so that many that wait cost little, and
   * differs, so that they do not come back all at once.
   */
  heldBack(): SendOutcome {
    const { error, since } = this.#away ?? { error: undefined, since: performance.now() };
    const seconds = (performance.now() - since) / 2_000;
    const bounded = Math.min(Math.max(seconds, shortestWaitSeconds), longestWaitSeconds);
    return { kind: 'held-back', retryAfterSeconds: bounded * (0.8 + Math.random() * 0.4), error };
  }

  /**
   * Whether the message is for it, as far as is known while it is away. Of an address that it was never asked for, only
   * a command to another service is known not to be.
   */
  mayListen({ address, metadata }: TransportMessage): boolean {
    const isCommand = (metadata as { kind?: unknown } | null)?.kind === 'command';
    return this.#listens.get(address) ?? (!isCommand || address === this.entry.service);
  }

  /** Delivers messages in order. Returns undefined when it went away; some may have arrived. */
  async deliver(messages: readonly TransportMessage[]): Promise<readonly Delivered[] | undefined> {
    try {
      const delivered = await this.#deliverAll(messages);
      this.#outages = 0;
      return delivered;
    } catch (error) {
      this.#goAway(explained(this.entry, error));
      return undefined;
    }
  }

  async #deliverAll(messages: readonly TransportMessage[]): Promise<readonly Delivered[]> {
    try {
      return await this.#deliverTogether(messages);
    } catch (error) {
      if (!blamesMessages(error)) throw error;
      if (messages.length === 1) return [refusal(this.entry.name, error)];
    }
    // Which of them it was shows when they go one by one. What follows a refused one in its stream stays.
    const results: Delivered[] = [];
    const stopped = new Set<string>();
    for (const message of messages) {
      const { streamId } = message;
      const isBehind = streamId !== null && stopped.has(streamId);
      const [result = 'unheard'] = isBehind ? [] : await this.#deliverAll([message]);
      results.push(result);
      if (typeof result === 'object' && !wasSent(result) && streamId !== null) stopped.add(streamId);
    }
    return results;
  }

  /**
   * One statement asks what it listens to and delivers, if that is what it was known to listen to: messages that nobody
   * wants there do not travel.
   */
  async #deliverTogether(messages: readonly TransportMessage[]): Promise<readonly Delivered[]> {
    const addresses = [...new Set(messages.map(({ address }) => address))];
    for (let tries = 1; ; tries++) {
      const expected = addresses.filter((address) => this.#listens.get(address) === true);
      const rows = messages.filter(({ address }) => expected.includes(address)).map(toRow);
      const { heard, isDone } = await this.#unlessInConflict((db) =>
        deliver(db, this.#schema, addresses, expected, rows),
      );
      for (const address of addresses) this.#listens.set(address, heard.includes(address));
      if (isDone) return messages.map(({ address }) => (heard.includes(address) ? 'heard' : 'unheard'));
      if (tries === mostTries) throw new Error('its subscriptions change all the time');
    }
  }

  /** Makes a call again that another transaction has got in the way of. */
  async #unlessInConflict<T>(call: Parameters<typeof withPooledClient<T>>[1]): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await withPooledClient(this.#pool, call, answerMs);
      } catch (error) {
        const isConflict = error instanceof WhizbangError && conflicts.includes(error.code);
        if (!isConflict || tries === mostTries) throw error;
        await wait(Math.random() * 25 * 2 ** tries);
      }
    }
  }

  async #greet(): Promise<void> {
    const { name } = this.entry;
    const engine = await greetDatabase(this.entry, this.#pool, answerMs);
    if (engine === undefined) return;
    this.#logger.warn({ database: name, version: engine }, 'The engine of a database is not known to work');
  }

  #goAway(error: unknown): void {
    if (this.#closed.signal.aborted || this.#away !== undefined) return;
    this.#away = { error, since: performance.now() };
    this.#outages++;
    const facts = { database: this.entry.name, ...outageFacts(error) };
    this.#logger.warn(facts, 'Another database cannot be reached; messages for it wait in the outbox');
    this.#onChange();
    void this.#lookForIt();
  }

  async #lookForIt(): Promise<void> {
    const { signal } = this.#closed;
    for (let failures = this.#outages; !signal.aborted; failures++) {
      const pauseMs = Math.min(firstProbeMs * 2 ** (failures - 1), longestProbeMs);
      await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      try {
        if (!signal.aborted) await this.#greet();
      } catch (error) {
        if (this.#away !== undefined) this.#away = { ...this.#away, error };
        continue;
      }
      if (signal.aborted) return;
      this.#away = undefined;
      this.#logger.info({ database: this.entry.name }, 'Another database can be reached again');
      this.#onChange();
      return;
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#own?.close();
  }
}

const conflicts = ['SERIALIZATION', 'DEADLOCK'];

/** Whether the server refused what was sent, so that other messages may be accepted. */
function blamesMessages(error: unknown): boolean {
  if (!(error instanceof WhizbangError) || isOutage(error) || isRefusal(error)) return false;
  return ![...conflicts, 'TIMEOUT'].includes(error.code);
}

function refusal(name: string, error: unknown): Delivered {
  const { code, message, details } = error as WhizbangError;
  return {
    kind: 'failed',
    error: new WhizbangError(code, {
      message: `The receiver in databases.${name} failed: ${message}`,
      hint: 'This one gets the message when it is tried again: correct the error in its schema.',
      details: { ...details, database: name },
      cause: error,
    }),
  };
}

function toRow(message: TransportMessage): ReceivedRow {
  return {
    message_id: message.messageId,
    destination: message.address,
    event_type: message.type,
    event_data: message.payload,
    metadata: message.metadata,
    scope: message.scope,
    stream_id: message.streamId,
  };
}
