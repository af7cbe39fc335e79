import type { Floor } from './floors.js';

/** A message that was read, until it is stored. */
export interface Entry {
  readonly sequence: number;
  readonly id: string;
  isStored: boolean;
  /** What the service listens to from here on, too. */
  readonly subscribed?: readonly string[];
}

/** What was read and not stored yet, in order, and the floor below the first of it. */
export class Unstored {
  #entries: Entry[] = [];
  #floor: number;
  #addresses: readonly string[];
  /** Those that wait for an acknowledgement. */
  count = 0;

  constructor({ floor, addresses }: Floor) {
    this.#floor = floor;
    this.#addresses = addresses;
  }

  /** All up to here is stored, or is not for this service. */
  get floor(): number {
    return this.#floor;
  }

  /** What the service listens to there. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  add({ sequence, id }: Pick<Entry, 'sequence' | 'id'>): Entry {
    const entry = { sequence, id, isStored: false };
    this.#entries.push(entry);
    this.count++;
    return entry;
  }

  /** A message that is for others, is known to be stored, or tells what the service listens to. */
  skip(sequence: number, subscribed: readonly string[] = []): void {
    const entry = { sequence, id: '', isStored: true, subscribed };
    if (this.#entries.length === 0) this.#pass([entry]);
    else this.#entries.push(entry);
  }

  /** Returns those that are below the floor now and were not before. */
  stored(entry: Entry): readonly Entry[] {
    if (entry.isStored) return [];
    entry.isStored = true;
    this.count--;
    if (this.#entries[0] !== entry) return [];
    const first = this.#entries.findIndex(({ isStored }) => !isStored);
    const passed = this.#entries.splice(0, first < 0 ? this.#entries.length : first);
    this.#pass(passed);
    return passed;
  }

  #pass(entries: readonly Entry[]): void {
    this.#floor = entries.at(-1)?.sequence ?? this.#floor;
    const subscribed = entries.flatMap((each) => each.subscribed ?? []);
    if (subscribed.length > 0) this.#addresses = [...new Set([...this.#addresses, ...subscribed])];
  }
}
