import { type AskedToSleep, channelOf, fallAsleep, listenTo, wakeUp } from '../../coordinator/index.js';
import type { ListenClient } from '../../database/index.js';
import type { Logger } from '../../logger.js';
import { answerWithin } from '../../time-limits.js';

interface ListenerOptions {
  /** Opens a connection straight to PostgreSQL: LISTEN does not pass pgbouncer in transaction mode. */
  readonly connect: () => Promise<ListenClient>;
  /** Quoted. */
  readonly schema: string;
  /** There is something to look for. */
  readonly onWake: () => void;
  /** Something was stored, and another one keeps the watch. */
  readonly onHint: () => void;
  readonly logger: Logger;
}

/**
 * `awake`: it has not asked to sleep since it was woken or connected. `asleep`: we keep the watch: whatever is committed from now
 * on notifies us. `covered`: another one keeps it, and wakes us when it has its hands full. `passed`: ours are full, and another
 * one keeps it or was told. `busy`: a transaction is open that has stored something and will not notify. `deaf`: there is no
 * connection to hear with.
 */
type Sleep = 'awake' | AskedToSleep | 'deaf';

const answerMs = 5_000;
const firstReconnectMs = 100;
const longestReconnectMs = 10_000;

/**
 * Hears that something was stored. Notifications are sent only while somebody sleeps, so a worker has to fall
 * asleep before its last look, not after it: what is committed before that look is seen by it, what is committed
 * after notifies. The lock that says so belongs to the session and dies with it.
 *
 * All who listen hear every notification. An empty one is for who keeps the watch, one with the number of a session for that
 * session, `all` for all.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #client: ListenClient | undefined;
  #closed = false;
  #pid = '';
  #sleep: Sleep = 'awake';
  /** Since we last rested. */
  #wasWoken = false;
  /** How often somebody called for us, or we let go of the watch. */
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

  /** The first connection. A failure is logged and tried again in the background: polling goes on meanwhile. */
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
      await client?.end().catch(() => {}); // a borrowed one would never come back to its pool
      // Once per outage: it is tried for as long as it lasts.
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

  /** `isAble`: what is stored now could be begun at once. If not, the watch goes to one that is able, if such a one sleeps. */
  async fallAsleep(isAble: boolean): Promise<void> {
    const client = this.#client;
    if (client === undefined) {
      this.#sleep = 'deaf';
      return;
    }
    const turnsBefore = this.#turns;
    try {
      const sleep = await inTime(fallAsleep(client, this.#options.schema, isAble));
      // The watch was passed to us in the meantime, or let go of, and nobody keeps it.
      const isOutdated = this.#turns > turnsBefore && sleep !== 'passed';
      this.#sleep = isOutdated ? 'busy' : sleep;
    } catch {
      this.#lose(client);
      this.#sleep = 'deaf';
    }
  }

  /** There is nothing left to look for. */
  rest(): void {
    this.#wasWoken = false;
  }

  /** Writers need not notify us any more. */
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
    if (this.#keepsWatch) await this.fallAsleep(false); // somebody else takes over
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
    // The first one finds us resting: we stay asleep, which saves two statements and a look. A second one finds us
    // awake: there is more to come, and nobody needs to tell us before we next fall asleep.
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
 * These take no time. A connection that has fallen silent would keep the loop waiting, and with it the polling, which is
 * to help out.
 */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answerMs, answer);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
