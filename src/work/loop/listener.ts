import { type AskedToSleep, channelOf, fallAsleep, listenTo, wakeUp } from '../../coordinator/index.js';
import type { ListenClient } from '../../database/index.js';
import type { Logger } from '../../logger.js';
import { answerWithin } from '../../time-limits.js';

interface ListenerOptions {
  /** Opens a connection straight to PostgreSQL: LISTEN does not pass pgbouncer in transaction mode. */
  readonly connect: () => Promise<ListenClient>;
  /** Name of the schema, quoted. */
  readonly schema: string;
  /** Called when there may be something to claim. */
  readonly onWake: () => void;
  /** Called when something was stored while another session keeps the watch. */
  readonly onHint: () => void;
  readonly logger: Logger;
}

/**
 * State of this session. The session that keeps the watch holds a lock, and is notified of everything that is
 * stored.
 *
 * - `awake`: it has not asked to sleep since it was woken or connected.
 * - `asleep`: it keeps the watch. Everything that is committed from now on notifies it.
 * - `covered`: another session keeps the watch, and notifies this one when it cannot begin more at once.
 * - `passed`: this one cannot begin more at once. Another session keeps the watch or was notified to take it.
 * - `busy`: no session sleeps, because a transaction is open that has stored something and will not notify.
 * - `deaf`: there is no connection that could receive notifications.
 */
type Sleep = 'awake' | AskedToSleep | 'deaf';

const answerMs = 5_000;
const firstReconnectMs = 100;
const longestReconnectMs = 10_000;

/**
 * Receives notifications that something was stored. They are sent only while a session sleeps, so a worker
 * has to fall asleep before its last look, not after it. That look finds what was committed before it; what
 * is committed later notifies. The lock that marks the sleep belongs to the session and ends with it.
 *
 * All listening sessions receive every notification. An empty payload is for the session that keeps the
 * watch, the number of a session is for that session, and `all` is for all sessions.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #client: ListenClient | undefined;
  #closed = false;
  #pid = '';
  #sleep: Sleep = 'awake';
  /** Whether a notification has come since the last rest. */
  #wasWoken = false;
  /** Number of times that another session notified this one, or that this one released the watch. */
  #turns = 0;
  #wasLost = false;
  #reconnectMs = firstReconnectMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get sleep(): Sleep {
    return this.#sleep;
  }

  /** Connects and listens. A failure is logged and retried in the background; polling goes on meanwhile. */
  async open(): Promise<void> {
    const { connect, schema, logger } = this.#options;
    let client: ListenClient | undefined;
    try {
      client = await connect();
      this.#attend(client);
      const { channel, pid } = await inTime(channelOf(client, schema));
      await inTime(listenTo(client, channel));
      if (this.#closed) {
        await client.end().catch(() => {});
        return;
      }
      this.#client = client;
      this.#pid = pid;
      this.#reconnectMs = firstReconnectMs;
      if (this.#wasLost) logger.warn({}, 'LISTEN works again');
      this.#wasLost = false;
      this.#sleep = 'awake';
      this.#options.onWake();
    } catch (error) {
      await client?.end().catch(() => {}); // a borrowed client would never return to its pool
      // Logged once per outage: the attempts go on for as long as it lasts.
      if (!this.#wasLost)
        logger.warn({ error: messageOf(error) }, 'LISTEN is not possible; polling until it is');
      this.#wasLost = true;
      this.#reconnectLater();
    }
  }

  #attend(client: ListenClient): void {
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload = '' }) => this.#hear(client, payload));
  }

  /**
   * Asks for notifications. `isAble`: a message that is stored now could be begun at once. If it is false,
   * the watch is passed to another sleeping session, if there is one.
   */
  async fallAsleep(isAble: boolean): Promise<void> {
    const client = this.#client;
    if (client === undefined) {
      this.#sleep = 'deaf';
      return;
    }
    const turnsBefore = this.#turns;
    try {
      const sleep = await inTime(fallAsleep(client, this.#options.schema, isAble));
      // Meanwhile the watch was passed to this session, or released, so no session keeps it.
      const isOutdated = this.#turns > turnsBefore && sleep !== 'passed';
      this.#sleep = isOutdated ? 'busy' : sleep;
    } catch {
      this.#lose(client);
      this.#sleep = 'deaf';
    }
  }

  /** Notes that the loop has nothing left to look for. */
  rest(): void {
    this.#wasWoken = false;
  }

  /** Ends the sleep: writers need not notify this session any more. */
  wakeUp(): void {
    const client = this.#client;
    const keptWatch = this.#keepsWatch;
    this.#sleep = 'awake';
    if (client === undefined || !keptWatch) return;
    this.#turns++;
    inTime(wakeUp(client, this.#options.schema)).catch(() => this.#lose(client));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    if (this.#keepsWatch) await this.fallAsleep(false); // another session takes the watch
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  get #keepsWatch(): boolean {
    return this.#sleep === 'asleep';
  }

  #hear(client: ListenClient, payload: string): void {
    if (client !== this.#client) return;
    const isForUs = payload === 'all' || payload === this.#pid;
    if (isForUs && !this.#keepsWatch) this.#turns++;
    if (payload === '' && !this.#keepsWatch) this.#options.onHint();
    if (!isForUs && !(payload === '' && this.#keepsWatch)) return;
    // The first notification comes while the loop rests. The session stays asleep, which saves two statements
    // and a look. A second one comes while the loop works: more will follow, so notifications are not needed
    // until the session next falls asleep.
    if (this.#wasWoken || !this.#keepsWatch) this.wakeUp();
    this.#wasWoken = true;
    this.#options.onWake();
  }

  #lose(client: ListenClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#sleep = 'awake';
    client.end().catch(() => {});
    if (this.#closed) return;
    this.#options.logger.warn({}, 'The LISTEN connection was lost; polling until it is back');
    this.#wasLost = true;
    this.#options.onWake();
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.open(), this.#reconnectMs * (0.5 + Math.random() / 2));
    this.#timer.unref();
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, longestReconnectMs);
  }
}

/**
 * Limits the wait for statements that take no time. A connection that no longer answers would block the loop,
 * and with it the polling, which is the fallback.
 */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answerMs, answer);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
