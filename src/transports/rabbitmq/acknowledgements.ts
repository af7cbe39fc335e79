import type { Channel, Message } from 'amqplib';

/**
 * The acknowledgements of one channel. Those of one turn go out together: a message by itself costs the broker an entry in
 * the log of its queue. What was delivered before and is not acknowledged is never acknowledged by them.
 */
export class Acknowledgements {
  readonly #channel: Channel;
  /** Tags count the deliveries of a channel from 1 on. All before this one are acknowledged. */
  #first = 1;
  /** From `#first` on. */
  readonly #waiting = new Map<number, Message>();
  readonly #written = new Set<number>();
  #timer: NodeJS.Immediate | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  add(message: Message): void {
    this.#waiting.set(message.fields.deliveryTag, message);
    this.#timer ??= setImmediate(() => this.flush());
  }

  /** Writes them. To be called before the channel is closed. */
  flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    try {
      this.#acknowledgeUnbroken();
      for (const [tag, message] of this.#waiting) {
        this.#channel.ack(message);
        this.#written.add(tag);
      }
    } catch {
      // The channel is about to end: the messages come again.
    }
    this.#waiting.clear();
  }

  /** All up to the first gap, by one acknowledgement: of the last of them that is not acknowledged yet. */
  #acknowledgeUnbroken(): void {
    let last: Message | undefined;
    for (; ; this.#first++) {
      const message = this.#waiting.get(this.#first);
      if (message === undefined && !this.#written.has(this.#first)) break;
      last = message ?? last;
      this.#waiting.delete(this.#first);
      this.#written.delete(this.#first);
    }
    if (last !== undefined) this.#channel.ack(last, true);
  }
}
