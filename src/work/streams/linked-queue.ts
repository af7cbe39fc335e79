// A first-in-first-out queue from which nodes can also be removed in the middle, all in constant time. Why
// not an array: shift() moves the rest. Why not a Map or Set: when it is emptied from the front, finding its
// first entry walks over the holes, which is quadratic for 100 000 entries.

export interface QueueNode<T> {
  value: T;
  before: QueueNode<T> | undefined;
  behind: QueueNode<T> | undefined;
}

export class LinkedQueue<T> {
  #first: QueueNode<T> | undefined;
  #last: QueueNode<T> | undefined;

  get first(): QueueNode<T> | undefined {
    return this.#first;
  }

  push(value: T): QueueNode<T> {
    const node: QueueNode<T> = { value, before: this.#last, behind: undefined };
    if (this.#last) this.#last.behind = node;
    else this.#first = node;
    this.#last = node;
    return node;
  }

  /** Adds a value in front of all others. */
  unshift(value: T): QueueNode<T> {
    const node: QueueNode<T> = { value, before: undefined, behind: this.#first };
    if (this.#first) this.#first.before = node;
    else this.#last = node;
    this.#first = node;
    return node;
  }

  shift(): T | undefined {
    const node = this.#first;
    if (node) this.cut(node, node);
    return node?.value;
  }

  /** Removes everything from this node to the end, and returns it in order. */
  cutFrom(node: QueueNode<T>): T[] {
    const values: T[] = [];
    for (let next: QueueNode<T> | undefined = node; next; next = next.behind) values.push(next.value);
    this.cut(node, this.#last as QueueNode<T>);
    return values;
  }

  /** Removes everything from one node to another behind it, or the same one. */
  cut(from: QueueNode<T>, to: QueueNode<T>): void {
    if (from.before) from.before.behind = to.behind;
    else this.#first = to.behind;
    if (to.behind) to.behind.before = from.before;
    else this.#last = from.before;
    // Else one node in old memory would keep alive all that ever came behind it, until that is collected.
    from.before = undefined;
    to.behind = undefined;
  }
}
