import rhea, { type Connection, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import type { Namespace } from './namespace.js';
import { type AccessKey, type Answer, answerManagement, answerToken, type Claim } from './requests.js';
import { refuse } from './session-entity.js';
import { sessionIdOf } from './session-link.js';

const headerLimit = 64 * 1024;

interface Rules {
  readonly namespace: Namespace;
  readonly keys: ReadonlyMap<string, AccessKey>;
  readonly maxMessageBytes: () => number;
  /** Whether this transfer is lost: neither stored nor taken for good. */
  readonly losesTransfer: () => boolean;
  /** Whether what arrives is stored but not answered. */
  readonly losesAnswers: () => boolean;
}

/** What one connection may do, and its links. */
export class ConnectionLinks {
  #claims = new Set<Claim>();

  constructor(
    readonly connection: Connection,
    readonly rules: Rules,
  ) {}

  /** A client wants to send. */
  onReceiver({ receiver }: EventContext): unknown {
    const link = receiver as Receiver;
    const address = String((link.target as { address?: string }).address);
    link.set_target({ address } as never);
    const { namespace } = this.rules;
    if (address.endsWith('$management') && !this.#claims.has('Listen'))
      return refuse(link, 'amqp:unauthorized-access', `'Listen' claim is required: ${address}`);
    if (address === '$cbs' || address.endsWith('$management')) {
      link.on('message', (context: EventContext) => this.#answer(address, context));
      return;
    }
    if (!this.#claims.has('Send'))
      return refuse(link, 'amqp:unauthorized-access', `'Send' claim is required: ${address}`);
    if (!namespace.hasTopic(address))
      return refuse(link, 'amqp:not-found', `The messaging entity ${address} could not be found.`);
    (link as unknown as { local: { attach: Record<string, unknown> } }).local.attach.max_message_size =
      this.rules.maxMessageBytes();
    link.on('message', (context: EventContext) => this.#store(address, context));
  }

  #store(topic: string, { message, delivery }: EventContext): void {
    const isBatch = Buffer.isBuffer(message);
    const messages = isBatch ? messagesOf(message) : [message as Message];
    const size = isBatch ? message.length : rhea.message.encode(message as Message).length;
    const tooLarge =
      size > this.rules.maxMessageBytes() || messages.some((each) => headerOf(each) > headerLimit);
    if (tooLarge) {
      delivery?.reject({
        condition: 'amqp:link:message-size-exceeded',
        description: `${size} bytes are too many.`,
      });
      return;
    }
    if (this.rules.losesTransfer()) {
      delivery?.reject({ condition: 'com.microsoft:server-busy', description: 'The server is busy.' });
      return;
    }
    this.rules.namespace.publish(topic, messages);
    if (!this.rules.losesAnswers()) delivery?.accept();
  }

  #answer(address: string, { message, delivery }: EventContext): void {
    delivery?.accept();
    const request = message as Message;
    const path = address.replace(/\/\$management$/, '');
    const answer =
      address === '$cbs'
        ? answerToken(request, this.rules.keys)
        : answerManagement(path, request, this.rules.namespace);
    if (answer.claims !== undefined) this.#claims = new Set(answer.claims);
    this.#reply(request, answer);
  }

  #reply(request: Message, { status, description = 'OK', condition, body = '' }: Answer): void {
    const reply = this.connection.find_sender(
      (link: Sender) =>
        link.name === request.reply_to ||
        (link.target as { address?: string } | undefined)?.address === request.reply_to,
    );
    const application_properties = {
      'status-code': status,
      statusCode: status,
      'status-description': description,
      statusDescription: description,
      ...(condition !== undefined && { 'error-condition': condition, errorCondition: condition }),
    };
    reply?.send({ correlation_id: request.message_id, application_properties, body } as never);
  }

  /** A client wants to receive: answers of `$cbs` and `$management`, or a session. */
  onSender({ sender }: EventContext): unknown {
    const link = sender as Sender;
    const address = String((link.source as { address?: string }).address);
    link.set_source({ address } as never);
    if (address === '$cbs' || address.endsWith('$management')) return;
    if (!this.#claims.has('Listen'))
      return refuse(link, 'amqp:unauthorized-access', `'Listen' claim is required: ${address}`);
    const entity = this.rules.namespace.byPath(address);
    if (entity === undefined)
      return refuse(link, 'amqp:not-found', `The messaging entity ${address} could not be found.`);
    const sessionId = sessionIdOf(link);
    if (!entity.requiresSession || sessionId === null)
      return refuse(
        link,
        'amqp:not-allowed',
        'It is not possible for an entity that does not require sessions to create a sessionful message receiver.',
      );
    holdAnswer(link);
    link.on('sender_close', () => entity.linkClosed(link));
    const timeout =
      (link.properties as Record<string, number> | undefined)?.['com.microsoft:timeout'] ?? 60_000;
    entity.accept(link, sessionId, timeout);
  }

  /** The connection is gone: its sessions are free at once. */
  onEnd(): void {
    const entities = this.rules.namespace.subscriptions();
    for (const entity of entities) entity.forgetWaiting(this.connection);
    for (const entity of entities)
      for (const { link } of entity.holders())
        if (link.connection === this.connection) entity.linkClosed(link);
  }
}

/** rhea answers an attach by itself. This takes the answer back until there is a session. */
function holdAnswer(link: Sender): void {
  const { state } = link as unknown as { state: { local_open: boolean; open_requests: number } };
  state.local_open = false;
  state.open_requests--;
}

function messagesOf(batch: Buffer): Message[] {
  const { content } = rhea.message.decode(batch).body as { content: Buffer | Buffer[] };
  return [content].flat().map((bytes) => rhea.message.decode(bytes) as unknown as Message);
}

const headerOf = ({ application_properties = {} }: Message): number =>
  Object.entries(application_properties).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(String(value)),
    0,
  );
