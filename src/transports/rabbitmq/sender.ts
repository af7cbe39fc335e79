import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { WhizbangError } from '../../errors.js';
import { unlessAborted } from '../../time-limits.js';
import { sendInWaves } from '../order/waves.js';
import type { SendOutcome, TransportMessage } from '../transport.js';
import { type Publication, publicationOf } from './amqp-message.js';
import { KeptChannel } from './kept-channel.js';
import type { Link } from './link.js';
import { exchangesOf, type Names } from './names.js';
import { type Answer, publishAll } from './publishing.js';
import { codeOf, reply, unavailable } from './refusals.js';
import type { RabbitmqSettings } from './settings.js';
import type { Topology } from './topology.js';

const queueRetrySeconds = 5;

interface SenderOptions {
  readonly link: Link;
  readonly settings: RabbitmqSettings;
  readonly topology: Topology;
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

/** Sends in waves over one channel, and waits for the confirmation of each message. */
export class Sender {
  readonly #link: Link;
  readonly #channel: KeptChannel<ConfirmChannel>;
  readonly #exchanges: Names;
  readonly #confirmMs: number;
  readonly #ready = new Set<() => void>();

  constructor({ link, settings, topology, onChange, signal }: SenderOptions) {
    this.#link = link;
    this.#exchanges = exchangesOf(settings.prefix);
    this.#confirmMs = settings.confirmSeconds * 1000;
    this.#channel = new KeptChannel<ConfirmChannel>({
      link,
      create: (model: ChannelModel) => model.createConfirmChannel(),
      setUp: (_channel, model) => topology.exchanges(model),
      explain: (error) => topology.explain(error, 'send'),
      explainEnd: (error) =>
        codeOf(error) === reply.preconditionFailed ? undefined : topology.explain(error, 'send'),
      onChange: () => {
        this.notice();
        onChange();
      },
      signal,
    });
  }

  /** Settles with the first attempt: rejects when it was refused, resolves also when the broker is away. */
  async tried(): Promise<void> {
    await this.#channel.tried();
  }

  get canSend(): boolean {
    return this.#channel.current !== undefined && !this.#link.isBlocked;
  }

  get error(): unknown {
    return this.#link.error ?? this.#channel.error;
  }

  /** To be called when the link has changed. */
  notice(): void {
    if (!this.canSend) return;
    for (const resolve of this.#ready) resolve();
    this.#ready.clear();
  }

  /** Resolves when the broker has answered on the channel: a connection that broke a moment ago still looks open. */
  async ready(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const { current } = this.#channel;
      const { model } = this.#link;
      if (current === undefined || model === undefined || !this.canSend)
        await unlessAborted(signal, new Promise<void>((resolve) => this.#ready.add(resolve)));
      else if (await unlessAborted(signal, this.#answers(current, model))) return;
    }
  }

  /** Asks for something that changes nothing here: nothing is consumed on this channel. */
  async #answers(channel: ConfirmChannel, model: ChannelModel): Promise<boolean> {
    const answered = this.#link.expectAnswer(model);
    try {
      await channel.prefetch(0);
      return true;
    } catch {
      return false;
    } finally {
      answered();
    }
  }

  async #readyInTime(signal: AbortSignal): Promise<void> {
    const tooLate = AbortSignal.timeout(this.#confirmMs);
    await this.ready(AbortSignal.any([signal, tooLate])).catch((error: unknown) => {
      throw tooLate.aborted ? (this.error ?? unavailable('RabbitMQ opened no new channel.')) : error;
    });
  }

  async close(): Promise<void> {
    await this.#channel.close();
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    return sendInWaves(messages, (wave) => this.#sendWave(wave, signal));
  }

  async #sendWave(wave: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    const outcomes = new Map<TransportMessage, SendOutcome>();
    const publications = new Map<TransportMessage, Publication>();
    for (const message of wave) {
      try {
        publications.set(message, publicationOf(message, this.#exchanges));
      } catch (error) {
        outcomes.set(message, { kind: 'failed', error, final: true });
      }
    }
    for (const [message, outcome] of await this.#publish(publications, signal))
      outcomes.set(message, outcome);
    return wave.map((message) => outcomes.get(message) as SendOutcome);
  }

  /** Rejects when the channel or the connection ended before all was confirmed, and it is the fault of no message. */
  async #publish(
    publications: ReadonlyMap<TransportMessage, Publication>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<TransportMessage, SendOutcome>> {
    // A channel that a message has closed is being opened again.
    if (!this.canSend && this.error === undefined && this.#link.model !== undefined)
      await this.#readyInTime(signal);
    const channel = this.#channel.current;
    if (channel === undefined || !this.canSend)
      throw this.error ?? unavailable('There is no connection to RabbitMQ.');
    const confirmed = publishAll(channel, [...publications.values()], this.#confirmMs);
    const answers = await unlessAborted(signal, confirmed);
    // A channel on which a quorum queue was full takes nothing for it any more, also when the limit is gone.
    if (answers.includes('refused')) void this.#channel.reopen();
    const outcomes = new Map<TransportMessage, SendOutcome>();
    const unknown = new Map<TransportMessage, Publication>();
    for (const [i, [message, publication]] of [...publications].entries()) {
      const outcome = outcomeOf(answers[i] as Answer, message);
      if (outcome === undefined) unknown.set(message, publication);
      else outcomes.set(message, outcome);
    }
    if (unknown.size > 0) await this.#settleUnknown(unknown, outcomes, answers.includes('none'), signal);
    return outcomes;
  }

  async #settleUnknown(
    unknown: ReadonlyMap<TransportMessage, Publication>,
    outcomes: Map<TransportMessage, SendOutcome>,
    isLate: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    if (isLate) {
      void this.#channel.reopen(); // a broker that is blocked or stuck would not answer to it
      const error = unavailable(`RabbitMQ confirmed nothing for ${this.#confirmMs / 1000} seconds.`);
      // Others were confirmed: a queue has no majority, or no leader. The broker itself is there.
      if (outcomes.size === 0) throw error;
      for (const message of unknown.keys()) outcomes.set(message, queueIsAway(error));
      return;
    }
    const { brokerError } = this.#channel;
    if (codeOf(brokerError) !== reply.preconditionFailed)
      throw (
        this.error ?? unavailable('The connection to RabbitMQ was lost while messages were on their way.')
      );
    // The broker has refused one of them and dropped those behind it. Which one shows when each goes alone.
    for (const [message, publication] of unknown) {
      if (unknown.size === 1) {
        outcomes.set(message, {
          kind: 'failed',
          error: refused(message, publication, brokerError),
          final: true,
        });
        return;
      }
      const alone = await this.#publish(new Map([[message, publication]]), signal);
      for (const [each, outcome] of alone) outcomes.set(each, outcome);
    }
  }
}

/** Undefined: it is not known what became of the message. */
function outcomeOf(answer: Answer, message: TransportMessage): SendOutcome | undefined {
  if (answer === 'confirmed') return { kind: 'sent' };
  if (answer === 'returned') return { kind: 'failed', error: noReceiver(message) };
  if (answer === 'refused') {
    return queueIsAway(unavailable('RabbitMQ could not store the message (nack). Its log says why.'));
  }
  return undefined;
}

/** It is no fault of the message, so no attempt is counted. Other queues go on. */
const queueIsAway = (error: unknown): SendOutcome => ({
  kind: 'held-back',
  retryAfterSeconds: queueRetrySeconds,
  error,
});

function noReceiver({ address, messageId }: TransportMessage): WhizbangError {
  return new WhizbangError('NO_RECEIVER', {
    message: `No queue at RabbitMQ takes commands to ${address}.`,
    hint: `The message is kept and tried again. Check the name in \`to\`, and that the service ${address} was started once with the same url and prefix. rabbitmqctl list_bindings shows what is bound.`,
    details: { address, messageId },
  });
}

function refused(message: TransportMessage, { content }: Publication, cause: unknown): WhizbangError {
  const { messageId, type } = message;
  const bytes = content.length;
  return new WhizbangError('INVALID_MESSAGE', {
    message: `RabbitMQ refuses message ${messageId} of type ${type}, which has ${bytes} bytes: ${(cause as Error).message}`,
    hint: 'Send less, for example where the data can be found instead of the data, or raise max_message_size in rabbitmq.conf and retry the dead letter.',
    details: { messageId, type, bytes },
    cause,
  });
}
