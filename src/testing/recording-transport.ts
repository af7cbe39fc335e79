import type { MessageId } from '../message.js';
import { envelopeOf, type MessageKind, readMetadata } from '../messages/index.js';
import type { InProcessTransport, Transport, TransportMessage } from '../transports/index.js';
import type { SentMessage } from './sent-messages.js';

/** Every message that was sent through a transport, so that it can be sent again. */
export type Carried = Map<MessageId, TransportMessage>;

/** Wraps a transport and records what is sent through it. `onSend` is called before anything is sent. */
export function recordingTransport(
  transport: InProcessTransport,
  { sent, carried, onSend }: { sent: Map<MessageId, SentMessage>; carried: Carried; onSend: () => void },
): Transport {
  return {
    name: transport.name,
    traits: transport.traits,
    connect: async (host) => {
      const connection = await transport.connect(host);
      const inspect = connection.inspect?.bind(connection);
      return {
        ...(inspect && { inspect }),
        receive: (subscription, deliver) => connection.receive(subscription, deliver),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
        send: async (messages, signal) => {
          onSend();
          const outcomes = await connection.send(messages, signal);
          for (const [i, message] of messages.entries()) {
            if (outcomes[i]?.kind !== 'sent') continue;
            if (!sent.has(message.messageId)) sent.set(message.messageId, sentMessage(message));
            carried.set(message.messageId, message);
          }
          return outcomes;
        },
      };
    },
  };
}

export function sentMessage(message: TransportMessage): SentMessage {
  const { address, type, payload } = message;
  // Rows of plain inserts have no kind. Those whose topic equals their type are events.
  const kind: MessageKind = readMetadata(message.metadata).kind ?? (address === type ? 'event' : 'command');
  return { ...envelopeOf({ ...message, eventData: payload }, { type, kind }), address };
}
