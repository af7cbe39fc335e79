import type { Channel, ChannelModel } from 'amqplib';
import { pauseAfter } from './backoff.js';
import type { Link } from './link.js';
import { isRefusal } from './refusals.js';

interface KeptChannelOptions<C extends Channel> {
  readonly link: Link;
  readonly create: (model: ChannelModel) => Promise<C>;
  /** What has to be done on it before it is of use. Rejects with a WhizbangError. */
  readonly setUp: (channel: C, model: ChannelModel) => Promise<void>;
  /** Says why it could not be opened. */
  readonly explain: (error: unknown) => Error;
  /** Says why the broker has closed it. Undefined: that is nothing to report. */
  readonly explainEnd: (error: unknown) => Error | undefined;
  /** Called when it opens and when it ends. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

const closeMs = 5_000;
/** A channel that lasted so long was all right: the next one is opened without a pause. */
const soundMs = 10_000;

/** A channel that is opened again whenever it or its connection ends. */
export class KeptChannel<C extends Channel> {
  readonly #options: KeptChannelOptions<C>;
  readonly #retired = new AbortController();
  readonly #signal: AbortSignal;
  #current: C | undefined;
  #model: ChannelModel | undefined;
  /** Why it is not open. Undefined: it is, or will be in a moment. */
  error: unknown;
  /** Why the broker closed the last one, as amqplib tells it. */
  brokerError: unknown;
  /** Settles with the first attempt: rejects when it was refused. */
  readonly #firstOpened: Promise<void>;
  #wantsNew = false;

  constructor(options: KeptChannelOptions<C>) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#retired.signal]);
    let settle: (error?: unknown) => void = () => {};
    this.#firstOpened = new Promise((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#firstOpened.catch(() => {});
    void this.#run(settle);
  }

  get current(): C | undefined {
    return this.#current;
  }

  /** Settles with the first attempt: rejects when it was refused, resolves also when the broker is away. */
  async tried(): Promise<void> {
    const { link } = this.#options;
    await link.tried;
    if (link.model !== undefined) await this.#firstOpened;
  }

  /** Closes it; the next one is opened at once. */
  async reopen(): Promise<void> {
    this.#wantsNew = true;
    await this.#closeCurrent();
  }

  /** Lets it be, but opens no other after it. */
  retire(): void {
    this.#retired.abort();
  }

  async close(): Promise<void> {
    this.retire();
    await this.#closeCurrent();
  }

  async #run(settle: (error?: unknown) => void): Promise<void> {
    const { link, onChange } = this.#options;
    for (let failures = 0; !this.#signal.aborted; await pauseAfter(failures, this.#signal)) {
      const model = await link.up(this.#signal).catch(() => undefined);
      if (model === undefined) break;
      const began = performance.now();
      this.#wantsNew = false;
      try {
        const { channel, ended } = await this.#open(model);
        if (this.#signal.aborted) {
          await this.#closeChannel(channel, model);
          break;
        }
        this.#current = channel;
        this.#model = model;
        // Deliveries may come, and be rejected, before it is known here that it is open.
        if (this.#wantsNew) void this.#closeCurrent();
        this.error = undefined;
        onChange();
        settle();
        await ended;
        const isSound = this.#wantsNew || performance.now() - began > soundMs;
        failures = isSound ? 0 : failures + 1;
      } catch (error) {
        failures++;
        this.error = error;
        settle(isRefusal(error) ? error : undefined);
      }
      this.#current = undefined;
      onChange();
    }
    settle();
  }

  async #open(model: ChannelModel): Promise<{ readonly channel: C; readonly ended: Promise<void> }> {
    const { link, create, setUp, explain, explainEnd } = this.#options;
    let channel: C | undefined;
    const answered = link.expectAnswer(model);
    try {
      channel = await create(model);
      this.brokerError = undefined;
      channel.on('error', (error) => {
        this.brokerError = error;
        this.error = explainEnd(error);
      });
      const ended = new Promise<void>((resolve) => channel?.once('close', () => resolve()));
      await setUp(channel, model);
      return { channel, ended };
    } catch (error) {
      if (channel !== undefined) await this.#closeChannel(channel, model);
      throw explain(error);
    } finally {
      answered();
    }
  }

  async #closeCurrent(): Promise<void> {
    const channel = this.#current;
    this.#current = undefined;
    if (channel !== undefined && this.#model !== undefined) await this.#closeChannel(channel, this.#model);
  }

  /** What was written on the channel before, as acknowledgements, reaches the broker before its end. */
  async #closeChannel(channel: Channel, model: ChannelModel): Promise<void> {
    const answered = this.#options.link.expectAnswer(model, closeMs);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMs);
    });
    const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
    void closed.then(answered);
    try {
      await Promise.race([channel.close(), closed, tooLate]);
    } catch {
      answered(); // It was closed already.
    }
    clearTimeout(timer);
  }
}
