// Runs a receptor alone: no database, no queue, no second attempt. For unit tests of its decisions.
// In: a receptor, a message, a stand-in for the transaction. Out: what it returned and what it would have sent.
import { Dispatcher, notSealing } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { MessageId, NewOutboxMessage } from '../message.js';
import { newMessageId } from '../message-id.js';
import { type Envelope, envelopeOf, type MessageToSend, validatePayload } from '../messages/index.js';
import type { Receptor } from '../receptors/index.js';
import { runHandler } from '../work/index.js';
import { onTheWay } from './outside.js';
import { sentMessage } from './recording-transport.js';
import { type SentById, SentMessages } from './sent-messages.js';

/** Options of `runReceptor`. */
export interface RunReceptorOptions<Tx> {
  /** The value of `ctx.tx`. Default: a value that fails when it is used. */
  readonly tx?: Tx | undefined;
  /** The number of the attempt. Default: 1. */
  readonly attempt?: number | undefined;
  /** Whether it is the last attempt. Default: false. */
  readonly isLastAttempt?: boolean | undefined;
  /** The error for which the message is given up: `onGivenUp` of the receptor is run, and not its handler. */
  readonly givenUp?: Error | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A stand-in for the receptors that it invokes. It returns what they would have returned. */
  readonly invoke?: ((type: string, payload: unknown) => unknown) | undefined;
  /** Parts of the message's envelope, such as a scope or a correlation id. */
  readonly envelope?: Partial<Omit<Envelope, 'payload' | 'type' | 'kind'>> | undefined;
}

/** The result of `runReceptor`: what the receptor returned and what it sent. */
export class ReceptorRun extends SentMessages {
  /** The return value of the handler. Messages that it returned are also among those that it sent. */
  readonly returned: unknown;

  constructor(returned: unknown, sent: SentById) {
    super(sent);
    this.returned = returned;
  }
}

/**
 * Runs the handler once. The message is validated as if it had arrived. An error of the handler is thrown
 * here.
 */
export async function runReceptor<Tx>(
  receptor: Receptor<Tx>,
  message: MessageToSend,
  options: RunReceptorOptions<Tx> = {},
): Promise<ReceptorRun> {
  const { definition } = receptor;
  if (message.definition.type !== definition.type) {
    throw new WhizbangError('NO_RECEPTOR', {
      message: `The receptor ${receptor.name} handles ${definition.type}, not ${message.definition.type}.`,
      details: { type: message.definition.type },
    });
  }
  const { payload } = await validatePayload(definition, message.payload);
  const row = { messageId: newMessageId(), eventData: payload, metadata: {}, scope: null };
  const envelope: Envelope = {
    ...envelopeOf({ ...row, streamId: definition.streamOf(payload) }, definition),
    schemaVersion: definition.schemaVersion,
    ...options.envelope,
  };
  const stored: NewOutboxMessage[] = [];
  const dispatcher = new Dispatcher({
    service: 'test',
    sealer: notSealing,
    instanceId: newMessageId(),
    parent: envelope,
    // A command without a receiver goes to the sending service, if that one handles it. Without a service
    // this is not known.
    defaultAddress: () => 'test',
    outbox: { store: async (messages) => void stored.push(...messages) },
    invoker: async ({ definition: { type }, envelope: { payload } }) => {
      if (options.invoke === undefined) throw nothingToInvoke(receptor, type);
      return options.invoke(type, payload);
    },
  });
  const { givenUp, isLastAttempt = givenUp !== undefined } = options;
  const { tx = missingTransaction<Tx>(), attempt = 1, signal = new AbortController().signal } = options;
  const returned = await runHandler(receptor, {
    envelope,
    tx: receptor.transactional || givenUp !== undefined ? tx : undefined,
    attempt,
    isLastAttempt,
    givenUp,
    abort: { signal },
    dispatcher: () => dispatcher,
    events: { continuing: () => ({ decide: async () => Promise.reject(noEventStore(receptor)) }) },
  });
  return new ReceptorRun(returned, new Map(stored.map(asSent)));
}

function asSent(message: NewOutboxMessage): [MessageId, ReturnType<typeof sentMessage>] {
  return [message.messageId, sentMessage(onTheWay(message, 'test'))];
}

function missingTransaction<Tx>(): Tx {
  return new Proxy({} as Tx & object, {
    get: (_, property) => {
      throw new WhizbangError('UNKNOWN_TRANSACTION', {
        message: `The receptor has used ctx.tx.${String(property)}, but runReceptor was given no tx.`,
        hint: 'Pass a tx of your own, or run the receptor on a database with startTestKit.',
      });
    },
  });
}

function noEventStore({ name }: Receptor<never>): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The receptor ${name} has called ctx.decide, and runReceptor has no event store.`,
    hint: 'Run the receptor on a database with startTestKit.',
  });
}

function nothingToInvoke({ name }: Receptor<never>, type: string): WhizbangError {
  return new WhizbangError('NO_RECEPTOR', {
    message: `The receptor ${name} has invoked ${type}, but runReceptor was given no invoke.`,
    hint: 'Pass an invoke of your own, or run the receptor on a database with startTestKit.',
    details: { type },
  });
}
