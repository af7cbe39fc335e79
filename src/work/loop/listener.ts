import { channelOf, fallAsleep, listenTo, wakeUp } from '../../coordinator/index.js';
import type { ListenClient } from '../../database/index.js';
import type { Logger } from '../../logger.js';
import { answerWithin } from '../../time-limits.js';
import { type Sleep, type SleepEvent, stepFrom } from './sleep.js';

interface ListenerOptions {
  /** Opens a connection straight to PostgreSQL: LISTEN does not pass pgbouncer in transaction mode. */
  readonly connect: () => Promise<ListenClient>;
  /** Name of the schema, quoted. */
  readonly schema: string;
  /** Called when there may be something to claim. */
  readonly onWake: () => void;
  /** Called when something was stored while another session keeps the watch. */
  readonly onHint: () => void;
  /**
   * Called when a timer was set: with its time, in seconds since 1970. With 0 when it begins or ceases to
   * listen, because timers may have been set meanwhile.
   */
  readonly onTimer: (due: number) => void;
  /** Called when the answer to a request has come, of any instance. */
  readonly onAnswer: (requestId: string) => void;
  readonly logger: Logger;
}

const answerMs = 5_000;
const firstReconnectMs = 100;
const longestReconnectMs = 10_000;

/**
 * Receives notifications that something was stored. They are sent only while a session sleeps, so a worker
 * has to fall asleep before its last look, not after it. That look finds what was committed before it; what
 * is committed later notifies. The lock that marks the sleep belongs to the session and ends with it.
 *
 * All listening sessions receive every notification. An empty payload is for the session that keeps the
 * watch, the number of a session is for that session, and `all` is for all sessions. `timer` and a time tell
 * all sessions of a timer, whether they sleep or not, and `answer` and an id of an answer that has come.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #client: ListenClient | undefined;
  #closed = false;
  #pid = '';
  #sleep: Sleep = 'awake';
  /** Whether a notification has come since the last rest. */
  #wasWoken = false;
  /** Number of times that it became awake. */
  #wakes = 0;
  #wasLost = false;
  #reconnectMs = firstReconnectMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get isListening(): boolean {
    return this.#client !== undefined;
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
      this.#react('connected');
      this.#options.onTimer(0);
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
      this.#react('unanswered');
      return;
    }
    const wakesBefore = this.#wakes;
    try {
      const answer = await inTime(fallAsleep(client, this.#options.schema, isAble));
      // Meanwhile the watch was passed to this session, or released, so no session keeps it.
      const isOutdated = this.#wakes > wakesBefore && answer !== 'passed';
      this.#react(isOutdated ? 'busy' : answer);
    } catch {
      this.#lose(client);
      this.#react('unanswered');
    }
  }

  /** Notes that the loop has nothing left to look for. */
  rest(): void {
    this.#wasWoken = false;
  }

  /** Ends the sleep for a pause: writers need not notify this session. */
  pause(): void {
    this.#react('paused');
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    if (this.#sleep === 'asleep') await this.fallAsleep(false); // another session takes the watch
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  #hear(client: ListenClient, payload: string): void {
    if (client !== this.#client) return;
    if (payload.startsWith('timer ')) this.#options.onTimer(Number(payload.slice('timer '.length)));
    if (payload.startsWith('answer ')) this.#options.onAnswer(payload.slice('answer '.length));
    if (!['', 'all', this.#pid].includes(payload)) return;
    const event = payload === '' ? 'stored' : 'called';
    const hasWoken = this.#react(this.#wasWoken ? `${event}Again` : event);
    this.#wasWoken ||= hasWoken;
  }

  #lose(client: ListenClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.end().catch(() => {});
    if (this.#closed) return;
    this.#options.logger.warn({}, 'The LISTEN connection was lost; polling until it is back');
    this.#wasLost = true;
    this.#react('lost');
    this.#options.onTimer(0);
    this.#reconnectLater();
  }

  /** Does what the event asks for. Returns whether that has woken the loop. */
  #react(event: SleepEvent): boolean {
    const { schema, onHint, onWake } = this.#options;
    const client = this.#client;
    const [next, ...effects] = stepFrom(this.#sleep, event);
    this.#sleep = next;
    if (next === 'awake') this.#wakes++;
    if (client !== undefined && effects.includes('release'))
      inTime(wakeUp(client, schema)).catch(() => this.#lose(client));
    if (effects.includes('hint')) onHint();
    if (effects.includes('wake')) onWake();
    return effects.includes('wake');
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
