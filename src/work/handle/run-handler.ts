import type { Dispatcher } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import { type Envelope, isMessageToSend, type MessageToSend } from '../../messages/index.js';
import type { Receptor, ReceptorContext } from '../../receptors/index.js';
import { withinTime } from '../../time-limits.js';

interface Handling<Tx> {
  readonly envelope: Envelope;
  readonly tx: Tx | undefined;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Takes the messages that the handler sends or returns. */
  readonly dispatcher: Dispatcher;
  readonly events: Decisions;
}

/** Makes decisions that continue a message. */
interface Decisions {
  continuing(parent: Envelope): Pick<EventStore, 'decide'>;
}

/** Runs a receptor's handler once, with its context. Returns what the handler returned. */
export async function runHandler<Tx>(receptor: Receptor<Tx>, handling: Handling<Tx>): Promise<unknown> {
  const { dispatcher, envelope, tx, attempt, events } = handling;
  const underWay = new Set<Promise<unknown>>();
  const inTx = tx === undefined ? {} : { tx: tx as object };
  let isOver = false;
  const dispatch = <T>(send: () => Promise<T>): Promise<T> => {
    let sending: Promise<T>;
    const run = async () => {
      if (isOver) throw overError(receptor);
      return send().finally(() => underWay.delete(sending));
    };
    sending = run();
    // A handler that throws does not await it. An unhandled rejection must not end the process.
    sending.catch(() => {});
    underWay.add(sending);
    return sending;
  };
  try {
    return await withinTime(receptor.timeoutSeconds, handling.signal, async (signal) => {
      const context: ReceptorContext<Tx | undefined> = {
        tx,
        signal,
        envelope,
        attempt,
        send: (messages, options) => dispatch(async () => void (await dispatcher.send(messages, options))),
        publish: (messages, options) =>
          dispatch(async () => void (await dispatcher.publish(messages, options))),
        invoke: (command) => dispatch(() => dispatcher.invoke(command, { ...inTx, signal })),
        decide: (decider, id, decision) =>
          dispatch(() => events.continuing(envelope).decide(decider, id, decision, inTx)),
      };
      const returned = await receptor.handle(envelope.payload, context);
      if (receptor.definition.resultSchema === undefined) await sendReturned(dispatcher, returned);
      await Promise.all(underWay); // sends that the handler has not awaited are included, or fail it
      return returned;
    });
  } finally {
    isOver = true;
  }
}

/** Sends the messages that a handler returned: commands to their receiver, events to all subscribers. */
async function sendReturned(dispatcher: Dispatcher, returned: unknown): Promise<void> {
  for (const message of Array.isArray(returned) ? (returned as unknown[]) : [returned]) {
    if (!isMessageToSend(message)) continue;
    if (message.definition.kind === 'command') await dispatcher.send(message as MessageToSend<'command'>);
    else await dispatcher.publish(message as MessageToSend<'event'>);
  }
}

/** Error for a send after the handler has ended: the message would be accepted and never sent. */
function overError({ name }: Receptor<never>): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `The receptor ${name} has ended and its messages are stored: it cannot send any more.`,
    hint: 'Await everything that sends before the receptor returns.',
  });
}
