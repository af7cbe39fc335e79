import type { BookmarkKey } from '../coordinator/index.js';

/** Bookmarks whose events are taken one by one for a while, because one of them has failed its whole batch. */
export class OneByOne {
  readonly #left = new Map<string, number>();

  isOn(key: BookmarkKey): boolean {
    return this.#left.has(textOf(key));
  }

  /** The next `count` events are taken one by one. */
  begin(key: BookmarkKey, count: number): void {
    this.#left.set(textOf(key), Math.max(count, 1));
  }

  /** A batch of the bookmark has passed. */
  passed(key: BookmarkKey): void {
    const left = (this.#left.get(textOf(key)) ?? 1) - 1;
    if (left > 0) this.#left.set(textOf(key), left);
    else this.#left.delete(textOf(key));
  }
}

const textOf = ({ name, from }: BookmarkKey) => `${name}\n${from}`;
