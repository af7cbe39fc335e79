// What a decision adds to its events: their stream, and what it is about.
import { WhizbangError } from '../errors.js';
import type { Decider } from '../fold/index.js';
import type { NewOutboxMessage, StreamId } from '../message.js';

/** Returns a function that puts a decided event into the stream of the decision. Refuses one of another stream. */
export function decided<State>(
  { name, steps }: Decider<State>,
  streamId: StreamId,
): (event: NewOutboxMessage) => NewOutboxMessage {
  return (event) => {
    const type = event.eventType;
    if (!steps.has(type)) {
      throw new WhizbangError('UNKNOWN_EVENT', {
        message: `${name} decided on ${type}, for which it has no function: its stream could not be loaded again.`,
        hint: `Add .on(${type}, …) to the decider.`,
        details: { name, type, streamId },
      });
    }
    if (event.streamId != null && event.streamId !== streamId) {
      throw new WhizbangError('INVALID_MESSAGE', {
        message: `${type}: it is of stream ${event.streamId}, and the decision is on stream ${streamId}.`,
        hint: 'Decide on the stream to which the event belongs.',
        details: { type, streamId: event.streamId },
      });
    }
    const metadata = { aggregateType: name, ...(event.metadata as object | undefined) };
    return { ...event, streamId, isEvent: true, metadata };
  };
}
