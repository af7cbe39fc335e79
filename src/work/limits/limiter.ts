// The limit of one receptor in this instance: what it asks the database for, and what it lets begin.
// In: items that were handed out, the names at which others may wait. Out: a place for each, or its outcome.
// Called by Limits. What it does not let in is given back without an attempt; the database keeps it at the
// limit (docs/decisions/0048), and hands it out again when this or another instance asks for it with room.
import type { MessageId, WorkItem } from '../../message.js';
import type { Receptor, ReceptorLimit } from '../../receptors/index.js';
import type { Entered } from '../handle/item-limits.js';
import { KeyRoom } from './key-room.js';
import type { LimitStore } from './limit-store.js';

interface LimiterOptions<Tx> {
  readonly receptor: Receptor<Tx>;
  readonly limit: ReceptorLimit;
  readonly store: LimitStore;
  /** How many receptors the instance runs at once: no more wait here. */
  readonly hands: number;
  /** Reads the key of an item. Undefined: it cannot be read, and is left to its receptor, which will fail. */
  readonly keyOf: (item: WorkItem) => Promise<string | undefined>;
  /** Called when there may be room again. */
  readonly wake: () => void;
}

/** How many are asked for at a time under a limit over all instances: others may take the places meanwhile. */
const mostAcross = 10;
/** How long an instance waits when others have all places, unless one of its own ends. */
const retryMs = 500;
/** Between a handler and a key, in the name at which a stream waits. */
const separator = '\u001f';
const released: Entered = { outcome: { kind: 'released' } };

export class Limiter<Tx> {
  readonly #options: LimiterOptions<Tx>;
  readonly #rooms = new Map<string, KeyRoom>();
  /** Items that are here and have not begun. */
  readonly #waitingHere = new Set<MessageId>();
  /** Names with a key at which something may wait, and which may have room. */
  readonly #ready = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #swept = new Map<string, string | undefined>();
  #removedThrough: string | undefined;
  #pausedUntil = 0;

  constructor(options: LimiterOptions<Tx>) {
    this.#options = options;
  }

  get hasKey(): boolean {
    return this.#options.limit.key !== undefined;
  }

  get isAcross(): boolean {
    return this.#options.limit.isAcross;
  }

  added(messageId: MessageId): void {
    this.#waitingHere.add(messageId);
  }

  settled(messageId: MessageId): void {
    this.#waitingHere.delete(messageId);
  }

  /** Adds to a call the names under which it asks, and how much of each. */
  ask(handlers: readonly string[], into: Record<string, number>): void {
    const now = performance.now();
    const pauseMs = this.#pausedUntil - now;
    if (pauseMs > 0) this.#wakeIn('', pauseMs);
    let room = this.#options.hands - this.#waitingHere.size;
    if (room <= 0 || pauseMs > 0) return;
    if (!this.hasKey) room = Math.min(this.#roomOf('', now) - this.#waitingHere.size, room);
    else if (this.#ready.size > 0) room -= this.#askForKeys(Math.ceil(room / 2), now, into);
    if (room > 0) for (const handler of handlers) into[handler] = room;
  }

  /** The database has refused a question: nothing is asked for a while, or the same messages would go round and round. */
  pause(): void {
    this.#pausedUntil = performance.now() + retryMs * (1 + Math.random());
  }

  async enter(item: WorkItem): Promise<Entered> {
    try {
      const key = this.hasKey ? await this.#options.keyOf(item) : '';
      if (key === undefined) return { leave: () => {} };
      return (await this.#begins(item, key)) ? { leave: () => this.#leave(item, key) } : released;
    } finally {
      this.#waitingHere.delete(item.messageId);
    }
  }

  /** Looks for names at which something waits: who left it there may be gone. */
  async sweep(handlers: readonly string[]): Promise<void> {
    for (const handler of handlers) {
      const { names, next } = await this.#options.store.waiting(handler, this.#swept.get(handler));
      this.#swept.set(handler, next);
      for (const name of names) this.#ready.add(name);
      if (names.length > 0) this.#options.wake();
    }
  }

  /** Removes rows of the limit that nobody uses any more. */
  async removeIdle(): Promise<void> {
    const { store, receptor } = this.#options;
    this.#removedThrough = await store.removeIdle(receptor.definition.type, this.#removedThrough);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #askForKeys(most: number, now: number, into: Record<string, number>): number {
    let asked = 0;
    for (const name of this.#ready) {
      if (asked >= most) break;
      this.#ready.delete(name);
      const room = Math.min(this.#roomOf(keyIn(name), now, name), most - asked);
      if (room > 0) into[name] = room;
      asked += room;
    }
    return asked;
  }

  /** Returns how many could begin under a key. If that is a question of time, it wakes when there is room. */
  #roomOf(key: string, now: number, name = ''): number {
    const known = this.#rooms.get(key) ?? new KeyRoom(this.#options.limit);
    const room = Math.min(known.room(now), this.isAcross ? mostAcross : Number.POSITIVE_INFINITY);
    const waitMs = room > 0 ? 0 : known.waitMs(now);
    if (waitMs > 0) this.#wakeIn(name, waitMs);
    return room;
  }

  async #begins(item: WorkItem, key: string): Promise<boolean> {
    const { limit, store, receptor } = this.#options;
    const { messageId } = item;
    const known = this.#rooms.get(key) ?? new KeyRoom(limit);
    this.#rooms.set(key, known);
    const now = performance.now();
    const name = this.hasKey ? item.destination + separator + key : undefined;
    if (known.room(now) <= 0) {
      if (name !== undefined) await store.waitAt(messageId, name);
    } else if (!limit.isAcross) {
      known.begin(now);
      return true;
    } else {
      const { concurrency, rate } = limit;
      known.begin(now); // before the answer, so that no more are asked than may be let in
      const entering = {
        messageId,
        name: receptor.definition.type,
        key,
        waitsAt: name,
        concurrency,
        ...noRate,
        ...rate,
      };
      const seconds = await store.enter(entering).catch((error: unknown) => {
        known.end();
        throw error;
      });
      if (seconds === undefined) return true;
      known.end();
      known.refuse(now, seconds > 0 ? seconds * 1000 : retryMs * (1 + Math.random()), seconds === 0);
    }
    if (name !== undefined) this.#ready.add(name);
    return false;
  }

  #leave(item: WorkItem, key: string): void {
    const known = this.#rooms.get(key);
    known?.end();
    if (known?.isIdle(performance.now())) this.#rooms.delete(key);
    if (this.hasKey) this.#ready.add(item.destination + separator + key);
  }

  #wakeIn(name: string, ms: number): void {
    if (this.#timers.has(name)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      if (name !== '') this.#ready.add(name);
      this.#options.wake();
    }, Math.ceil(ms));
    this.#timers.set(name, timer.unref());
  }
}

const noRate = { count: undefined, perSeconds: undefined };
const keyIn = (name: string) => name.slice(name.indexOf(separator) + 1);
