import type { ChannelModel } from 'amqplib';
import { pauseAfter } from './backoff.js';
import { closed, dropSocket, shut } from './opening.js';
import { isRefusal, unavailable } from './refusals.js';

interface LinkOptions {
  readonly open: () => Promise<ChannelModel>;
  /** Called when it goes up or down, and when the broker blocks and unblocks it. */
  readonly onChange: () => void;
  /** Aborted when the transport's connection is closed. */
  readonly signal: AbortSignal;
}

const answerMs = 15_000;

/** One AMQP connection that is opened again, with growing pauses, whenever it ends. */
export class Link {
  readonly #options: LinkOptions;
  readonly #waiting = new Set<(model: ChannelModel) => void>();
  /** Settles with the first attempt: rejects when it was refused, resolves also when the broker is away. */
  readonly tried: Promise<void>;
  #model: ChannelModel | undefined;
  /** Why it is down, or blocked. */
  error: unknown;
  isBlocked = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    let settle: (error?: unknown) => void = () => {};
    this.tried = new Promise((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.tried.catch(() => {});
    void this.#run(settle);
  }

  get model(): ChannelModel | undefined {
    return this.#model;
  }

  /** Waits until it is up. Rejects with the reason of the signal. */
  async up(signal: AbortSignal): Promise<ChannelModel> {
    if (this.#model !== undefined) return this.#model;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(onUp);
        reject(signal.reason);
      };
      const onUp = (model: ChannelModel) => {
        signal.removeEventListener('abort', onAbort);
        resolve(model);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onUp);
    });
  }

  /**
   * To be called with a question to the broker: unless the returned function is called in time, the connection is given up.
   * RabbitMQ leaves channels without an answer for ever that were opened while it was starting. A broker that has blocked
   * the connection reads nothing, and is waited for.
   */
  expectAnswer(model: ChannelModel, milliseconds = answerMs): () => void {
    const timer = setInterval(() => {
      if (this.isBlocked) return;
      clearInterval(timer);
      dropSocket(model, new Error('RabbitMQ left a question without an answer.'));
    }, milliseconds).unref();
    return () => clearInterval(timer);
  }

  async #run(settle: (error?: unknown) => void): Promise<void> {
    const { open, signal } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const model = await open();
        if (signal.aborted) {
          await shut(model);
          break;
        }
        const end = closed(model);
        failures = 0;
        this.#goUp(model);
        settle();
        const error = await end;
        dropSocket(model);
        this.#goDown(unavailable('The connection to RabbitMQ was lost.', error));
      } catch (error) {
        this.#goDown(error);
        settle(isRefusal(error) ? error : undefined);
      }
      await pauseAfter(++failures, signal);
    }
    settle();
  }

  #goUp(model: ChannelModel): void {
    this.#model = model;
    this.error = undefined;
    this.isBlocked = false;
    // At once: its channels end in the same turn, and must not be opened again on it.
    model.once('close', () => {
      this.#model = undefined;
    });
    model.on('blocked', (reason: string) => {
      this.isBlocked = true;
      this.error = unavailable(
        `RabbitMQ takes no messages at the moment: ${reason}. See rabbitmq-diagnostics alarms.`,
      );
      this.#options.onChange();
    });
    model.on('unblocked', () => {
      this.isBlocked = false;
      this.error = undefined;
      this.#options.onChange();
    });
    for (const resolve of this.#waiting) resolve(model);
    this.#waiting.clear();
    this.#options.onChange();
  }

  #goDown(error: unknown): void {
    this.#model = undefined;
    this.error = error;
    this.#options.onChange();
  }

  /** To be called when its signal has aborted. Channels are closed before. */
  async close(): Promise<void> {
    if (this.#model !== undefined) await shut(this.#model);
  }
}
