import { WhizbangError } from '../../errors.js';
import { unlessAborted } from '../../time-limits.js';
import { faultOf } from '../connection/broker-fault.js';
import { Lifetime, pause } from '../connection/lifetime.js';
import { StateReport } from '../connection/state-report.js';
import type {
  BrokerFinding,
  Delivery,
  QueueFacts,
  Receiver,
  SendOutcome,
  Subscription,
  TransportConnection,
  TransportHost,
  TransportMessage,
} from '../transport.js';
import type { Aws } from './aws.js';
import { saysMissing } from './aws-errors.js';
import { publish } from './publishing.js';
import { findQueue, type OpenQueue, openQueue, queueName, resourceOf } from './queue.js';
import type { SqsSettings } from './sqs-options.js';
import { SqsReceiver } from './sqs-receiver.js';
import { openSubscription } from './subscription.js';
import { openTopic, topicAttributes } from './topic.js';
import { canBeSpelled } from './wire.js';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

export class SqsConnection implements TransportConnection {
  readonly #aws: Aws;
  readonly #settings: SqsSettings;
  readonly #host: TransportHost;
  readonly #lifetime = new Lifetime();
  readonly #state: StateReport;
  readonly #receivers: SqsReceiver[] = [];
  #topicArn: string | undefined;
  #reaching: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(aws: Aws, settings: SqsSettings, host: TransportHost) {
    this.#aws = aws;
    this.#settings = settings;
    this.#host = host;
    this.#state = new StateReport(host, this.#lifetime.signal);
  }

  static async open(aws: Aws, settings: SqsSettings, host: TransportHost): Promise<SqsConnection> {
    const connection = new SqsConnection(aws, settings, host);
    try {
      await connection.#topic();
    } catch (error) {
      if (!isUnavailable(error)) {
        aws.destroy();
        throw error;
      }
      connection.#cannotSend(error);
    }
    return connection;
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    const ended = this.#lifetime.within(signal);
    if (messages.length === 0) return [];
    const { maxMessageBytes: maxBytes } = this.#settings;
    try {
      if (this.#topicArn === undefined && this.#state.sendingError !== undefined)
        throw this.#state.sendingError;
      return await publish(messages, { aws: this.#aws, topicArn: await this.#topic(), maxBytes, signal });
    } catch (error) {
      ended.throwIfAborted();
      if (!saysMissing(error) && !isUnavailable(error)) throw error;
      if (saysMissing(error)) this.#topicArn = undefined;
      this.#cannotSend(error);
      throw unavailable(error);
    }
  }

  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    this.#lifetime.throwIfEnded();
    for (const address of subscription.addresses) refuseUnspeakable(address);
    const receiver = new SqsReceiver({
      aws: this.#aws,
      settings: this.#settings,
      service: this.#host.instance.serviceName,
      subscription,
      deliver,
      open: () => this.#openQueue(subscription.addresses),
      tell: (error) => this.#state.tell(this.#state.sendingError, error),
    });
    await receiver.start();
    this.#receivers.push(receiver);
    return receiver;
  }

  async ready(signal: AbortSignal): Promise<void> {
    const ended = this.#lifetime.within(signal);
    await unlessAborted(ended, this.#reach());
    ended.throwIfAborted();
  }

  /** A queue that does not exist is left out. */
  async inspect(): Promise<readonly QueueFacts[]> {
    this.#lifetime.throwIfEnded();
    const { signal } = this.#lifetime;
    const name = queueName(this.#settings, this.#host.instance.serviceName);
    const QueueUrl = await findQueue(this.#aws, name, signal);
    if (QueueUrl === undefined) return [];
    const request = { action: 'sqs:GetQueueAttributes', resource: resourceOf(name), signal };
    const { Attributes = {} } = await this.#aws.request(request, (options) =>
      this.#aws.sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['All'] }, options),
    );
    const depth = Number(Attributes.ApproximateNumberOfMessages);
    const unacknowledged = Number(Attributes.ApproximateNumberOfMessagesNotVisible);
    return [{ name, depth, unacknowledged, consumers: null, oldestSeconds: null }];
  }

  /** Compares the queue, if there is one, and its subscription. */
  async examine(): Promise<readonly BrokerFinding[]> {
    this.#lifetime.throwIfEnded();
    const name = queueName(this.#settings, this.#host.instance.serviceName);
    if ((await findQueue(this.#aws, name, this.#lifetime.signal)) === undefined) return [];
    // Whatever this instance itself may do there, this only looks.
    return this.#openQueue([], { ...this.#settings, topology: 'check' }).then(
      () => [],
      (error: unknown) => [faultOf(error)],
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#lifetime.end();
    await Promise.allSettled(this.#receivers.map((receiver) => receiver.close()));
    this.#aws.destroy();
  }

  async #topic(): Promise<string> {
    this.#topicArn ??= await openTopic(this.#aws, this.#settings, this.#lifetime.signal);
    return this.#topicArn;
  }

  async #openQueue(addresses: readonly string[], settings = this.#settings): Promise<OpenQueue> {
    const { signal } = this.#lifetime;
    const { serviceName } = this.#host.instance;
    const topicArn = await this.#topic();
    const queue = await openQueue(this.#aws, settings, serviceName, topicArn, signal);
    await openSubscription(this.#aws, settings, topicArn, queue, addresses, signal);
    return queue;
  }

  #cannotSend(error: unknown): void {
    this.#state.cannotSend(error);
    void this.#reach();
  }

  /** Resolves when SNS has answered, or when the connection is closed. */
  #reach(): Promise<void> {
    this.#reaching ??= this.#tryToReach().finally(() => {
      this.#reaching = undefined;
    });
    return this.#reaching;
  }

  async #tryToReach(): Promise<void> {
    const { signal } = this.#lifetime;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        if (this.#topicArn === undefined) await this.#topic();
        else await topicAttributes(this.#aws, this.#topicArn, signal).catch(unlessAnswered);
        this.#state.canSend();
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (saysMissing(error)) this.#topicArn = undefined;
        this.#state.cannotSend(error);
        await pause(pauseMs, signal).catch(() => {});
      }
    }
  }
}

/** A role that may only publish is refused here, and SNS can be reached all the same. */
function unlessAnswered(error: unknown): void {
  if (!(error instanceof WhizbangError && error.code === 'PERMISSION_DENIED')) throw error;
}

function refuseUnspeakable(address: string): void {
  if (canBeSpelled(address)) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `SNS cannot filter by the address ${JSON.stringify(address)}: it is empty or has characters that SNS refuses.`,
    hint: 'Give the service or the topic of the event a name without control characters.',
    details: { option: 'address', value: address },
  });
}

const isUnavailable = (error: unknown) =>
  error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE';

/** What is found missing or refused after the start is repaired by people meanwhile: the messages wait. */
function unavailable(cause: unknown): WhizbangError {
  if (isUnavailable(cause)) return cause as WhizbangError;
  const { message, hint, details } = cause as WhizbangError;
  return new WhizbangError('TRANSPORT_UNAVAILABLE', { message, hint, details, cause });
}
