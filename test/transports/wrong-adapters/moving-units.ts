// Right adapters over the in-process hub in which not a stream moves between instances, but a shard or the whole service.
import { type SendOutcome, shardOfMessage, type TransportMessage } from '../../../src/transports/index.js';
import type { Change } from './wrapping.js';

const unitIds = Array.from({ length: 4 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`);

/** The hub keeps a stream together. Here all messages of a unit are one stream of it, with the message as payload. */
export const movesAs =
  (units: number): Change =>
  (inner) => ({
    send: async (messages, signal) => {
      if (messages.length === 0) return inner.send([], signal);
      const failed = new Set<string | null>();
      const outcomes: SendOutcome[] = [];
      for (const message of messages) {
        if (message.streamId !== null && failed.has(message.streamId)) {
          outcomes.push({ kind: 'held-back' });
          continue;
        }
        const [outcome] = await inner.send([packed(message, units)], signal);
        outcomes.push(outcome as SendOutcome);
        if (outcome?.kind !== 'sent') failed.add(message.streamId);
      }
      return outcomes;
    },
    receive: (subscription, deliver) =>
      inner.receive(subscription, (delivery) =>
        deliver({
          content: unpacked(delivery.content),
          acknowledge: () => delivery.acknowledge(),
          reject: () => delivery.reject(),
        }),
      ),
  });

const packed = (message: TransportMessage, units: number): TransportMessage => ({
  ...message,
  type: 'packed',
  metadata: null,
  scope: null,
  payload: message,
  streamId: unitIds[shardOfMessage(message, units)] ?? null,
});

const unpacked = <T extends object>(content: T): T | TransportMessage =>
  'payload' in content && 'type' in content && content.type === 'packed'
    ? (content.payload as TransportMessage)
    : content;
