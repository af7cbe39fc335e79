// How a loop rests that has nothing to do: it sleeps (sleep.ts), pauses or polls.
// In: notifications of the listener and of the loop. Out: the end of a rest, and whether there may be
// something to claim.
// Called by the loop. It never claims, and never delays what is due.
import type { Lane } from '../lane.js';
import type { Listener } from './listener.js';
import type { Signal } from './signal.js';
import { hasToAsk, looksAfter } from './sleep.js';

export interface RestOptions {
  readonly listener: Listener | undefined;
  readonly lanes: readonly Pick<Lane, 'spare' | 'wantsMore'>[];
  readonly pollIntervalMs: number;
  /** Set when there is something for the loop to do. */
  readonly signal: Signal;
  /** Returns the time until a renewal or a retry of the loop is due. */
  readonly msUntilDue: () => number;
}

/**
 * Longest pause between two attempts to fall asleep while a transaction is open that has stored something.
 */
const longestBusyPauseMs = 50;
/**
 * Wakes in a row that may find nothing. After these, what is stored cannot be claimed now, so it can wait.
 */
const vainWakesAllowed = 2;
const longestVainPauseMs = 16;
/** Time for the session that keeps the watch to claim what was stored, before others look. */
const hintMs = 100;
const firstPollMs = 100;

export class Rest {
  readonly #options: RestOptions;
  /** Whether, when it fell asleep, a new message could have been begun at once. */
  #wasAble = true;
  #notifiedSinceLook = false;
  /** Whether it was notified since it last asked to sleep. */
  #notifiedSinceAsked = false;
  #vainWakes = 0;
  #vainPauseMs = 0;
  #busyPauseMs = 0;
  #pollIsDue = false;
  #hintTimer: NodeJS.Timeout | undefined;
  /** Grows to the poll interval while nothing happens; low at first, for what was locked at the last look. */
  #pollMs = firstPollMs;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  notified(): void {
    this.#notifiedSinceLook = true;
    this.#notifiedSinceAsked = true;
    this.#pollMs = firstPollMs;
  }

  /**
   * Plans a look soon, but not for every message: something was stored, and the other session that keeps the
   * watch may be stuck.
   */
  hinted(): void {
    this.#hintTimer ??= setTimeout(
      () => {
        this.#hintTimer = undefined;
        this.#pollIsDue = true;
        this.#options.signal.set();
      },
      hintMs * (1 + Math.random()),
    ).unref();
  }

  /**
   * Notes that the loop looks. A look after a notification counts as fruitless until something is handed out.
   */
  looks(): void {
    if (!this.#notifiedSinceLook) return;
    this.#notifiedSinceLook = false;
    const tooMany = ++this.#vainWakes - vainWakesAllowed;
    if (tooMany > 0) this.#vainPauseMs = Math.min(2 ** (tooMany - 1), longestVainPauseMs);
  }

  /** Notes that something was handed out. */
  found(): void {
    this.#vainWakes = 0;
    this.#vainPauseMs = 0;
    this.#pollMs = firstPollMs;
  }

  /**
   * Falls asleep, after which the loop looks once more. If it sleeps already, it waits until it is woken,
   * something is due, or the next poll. Returns whether there may be something in any lane.
   */
  async untilWoken(): Promise<boolean> {
    const { listener, lanes, pollIntervalMs } = this.#options;
    const isFull = !lanes.some((lane) => lane.wantsMore());
    const isAble = lanes.every((lane) => lane.spare() > 0);
    if (listener !== undefined) {
      if (this.#vainPauseMs > 0) return this.#pauseAfterVainWakes(listener);
      if (this.#busyPauseMs > 0 && !isFull && (await this.#wait(this.#busyPauseMs))) return false;
      const loop = { isFull, isAble, wasAble: this.#wasAble, wasNotified: this.#notifiedSinceAsked };
      if (hasToAsk(listener.sleep, loop)) return this.#fallAsleep(listener, isAble);
      listener.rest();
    }
    const isWoken = !this.#pollIsDue && (await this.#wait(Math.min(this.#pollMs, pollIntervalMs)));
    if (isWoken && !this.#pollIsDue) return false;
    this.#pollIsDue = false;
    this.#pollMs = Math.min(this.#pollMs * 2, pollIntervalMs);
    if (isFull) return false;
    // The session with the watch may be gone. The poll is also the look after falling asleep: one call, not
    // two.
    if (listener !== undefined) await this.#fallAsleep(listener, isAble);
    return true;
  }

  stop(): void {
    clearTimeout(this.#hintTimer);
  }

  async #fallAsleep(listener: Listener, isAble: boolean): Promise<boolean> {
    const before = listener.sleep;
    await listener.fallAsleep(isAble);
    const { sleep } = listener;
    this.#notifiedSinceAsked = false;
    this.#wasAble = isAble;
    this.#busyPauseMs =
      sleep === 'busy' ? Math.min(Math.max(this.#busyPauseMs * 2, 1), longestBusyPauseMs) : 0;
    return looksAfter(before, sleep);
  }

  /** Pauses without notifications. Only what happens in this instance ends the pause early. */
  async #pauseAfterVainWakes(listener: Listener): Promise<false> {
    const ms = this.#vainPauseMs;
    this.#vainPauseMs = 0;
    listener.pause();
    await this.#wait(ms);
    return false;
  }

  /** Waits for the signal or for what is due. Returns whether it ended before the timeout. */
  async #wait(timeoutMs: number): Promise<boolean> {
    const ms = Math.max(Math.min(timeoutMs, this.#options.msUntilDue()), 1);
    return (await this.#options.signal.wait(ms)) || ms < timeoutMs;
  }
}
