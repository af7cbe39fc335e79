// How a loop rests that has nothing to do: asleep, covered, pausing or polling.
// In: what it is told by the listener and by the loop. Out: the end of a rest, and whether there may be something to claim.
// Called by the loop. It never claims, and never keeps the loop from what is due.
import type { Lane } from '../lane.js';
import type { Listener } from './listener.js';
import type { Signal } from './signal.js';

export interface RestOptions {
  readonly listener: Listener | undefined;
  readonly lanes: readonly Pick<Lane, 'spare' | 'wantsMore'>[];
  readonly pollIntervalMs: number;
  /** Set by whoever has something to do for the loop. */
  readonly signal: Signal;
  /** Until the loop has something to do by itself. */
  readonly msUntilDue: () => number;
}

/** Pauses between two tries to fall asleep, when somebody has a transaction open that has stored something. */
const longestBusyPauseMs = 50;
/** Woken so often in a row without finding anything: what is stored now cannot be had, so it can wait a little. */
const vainWakesAllowed = 2;
const longestVainPauseMs = 16;
/** So long whoever keeps the watch has time to see to what was stored, before others look. */
const hintMs = 100;
const firstPollMs = 100;

export class Rest {
  readonly #options: RestOptions;
  /** It fell asleep when everything that may come could be begun at once. */
  #wasAble = true;
  /** Since the last look. */
  #wasNotified = false;
  /** Since it fell asleep. */
  #wasTold = false;
  #vainWakes = 0;
  #vainPauseMs = 0;
  #busyPauseMs = 0;
  #pollIsDue = false;
  #hintTimer: NodeJS.Timeout | undefined;
  /** Grows to the poll interval while nothing happens: what somebody had locked at the last look is soon looked at again. */
  #pollMs = firstPollMs;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  notified(): void {
    this.#wasNotified = true;
    this.#wasTold = true;
    this.#pollMs = firstPollMs;
  }

  /** Something was stored, and another one keeps the watch. It may be stuck: a look soon, but not for every message. */
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

  /** The loop looks. If it was notified, then in vain until something is handed out. */
  looks(): void {
    if (!this.#wasNotified) return;
    this.#wasNotified = false;
    const tooMany = ++this.#vainWakes - vainWakesAllowed;
    if (tooMany > 0) this.#vainPauseMs = Math.min(2 ** (tooMany - 1), longestVainPauseMs);
  }

  /** Something was handed out. */
  found(): void {
    this.#vainWakes = 0;
    this.#vainPauseMs = 0;
    this.#pollMs = firstPollMs;
  }

  /**
   * Falls asleep, for the loop to look once more; else waits to be woken, for what is due, or for the next poll. Returns
   * whether there may be something in any lane.
   */
  async untilWoken(): Promise<boolean> {
    const { listener, lanes, pollIntervalMs } = this.#options;
    const isFull = !lanes.some((lane) => lane.wantsMore());
    const isAble = lanes.every((lane) => lane.spare() > 0);
    if (listener !== undefined) {
      if (this.#vainPauseMs > 0) return this.#pauseAfterVainWakes(listener);
      if (this.#busyPauseMs > 0 && !isFull && (await this.#wait(this.#busyPauseMs))) return false;
      if (this.#hasToFallAsleep(listener, isAble, isFull)) return this.#fallAsleep(listener, isAble);
      listener.rest();
    }
    const isWoken = !this.#pollIsDue && (await this.#wait(Math.min(this.#pollMs, pollIntervalMs)));
    if (isWoken && !this.#pollIsDue) return false;
    this.#pollIsDue = false;
    this.#pollMs = Math.min(this.#pollMs * 2, pollIntervalMs);
    if (isFull) return false;
    // Whoever covered us may be gone. The poll is the look after falling asleep, so that it is one call and not two.
    if (listener !== undefined) await this.#fallAsleep(listener, isAble);
    return true;
  }

  stop(): void {
    clearTimeout(this.#hintTimer);
  }

  #hasToFallAsleep({ sleep }: Listener, isAble: boolean, isFull: boolean): boolean {
    if (sleep === 'deaf') return false; // it polls
    if (sleep === 'awake' || sleep === 'busy') return !isFull;
    if (sleep === 'passed') return isAble;
    if (isAble) return !this.#wasAble;
    // Another one may be able by now: it tries again to pass the watch on, when something was stored.
    return this.#wasAble || this.#wasTold;
  }

  async #fallAsleep(listener: Listener, isAble: boolean): Promise<boolean> {
    const before = listener.sleep;
    await listener.fallAsleep(isAble);
    const { sleep } = listener;
    this.#wasTold = false;
    this.#wasAble = isAble;
    this.#busyPauseMs =
      sleep === 'busy' ? Math.min(Math.max(this.#busyPauseMs * 2, 1), longestBusyPauseMs) : 0;
    // Asleep all the time: there is nothing that it was not told of. Passed: that one looks.
    return !(sleep === 'deaf' || sleep === 'passed' || (sleep === 'asleep' && before === 'asleep'));
  }

  /** Nobody notifies us meanwhile; what happens here ends it. */
  async #pauseAfterVainWakes(listener: Listener): Promise<false> {
    const ms = this.#vainPauseMs;
    this.#vainPauseMs = 0;
    listener.wakeUp();
    await this.#wait(ms);
    return false;
  }

  /** Returns whether it ended before the time. */
  async #wait(timeoutMs: number): Promise<boolean> {
    const ms = Math.max(Math.min(timeoutMs, this.#options.msUntilDue()), 1);
    return (await this.#options.signal.wait(ms)) || ms < timeoutMs;
  }
}
