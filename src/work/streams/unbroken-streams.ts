import { type StreamId, WorkBatchFlags, type WorkItem } from '../../message.js';

/**
 * Largest number of streams that are remembered: more than are ever held. A stream that is forgotten too
 * early costs one more call: its next message is given back and handed out again.
 */
const most = 2_000;

/**
 * Streams in which every message has succeeded since the last one that was not handed out behind others. Only
 * in these may a message run that was handed out behind others (`WorkBatchFlags.Continues`): PostgreSQL may
 * have leased it before it received the failure of one of them.
 */
export class UnbrokenStreams {
  readonly #streams = new Set<StreamId>();

  /** Whether a message may be run. One that was not handed out behind others starts its stream again. */
  admits({ streamId, flags }: WorkItem): boolean {
    if (streamId === null) return true;
    if ((flags & WorkBatchFlags.Continues) !== 0) return this.#streams.has(streamId);
    this.#streams.add(streamId);
    if (this.#streams.size > most) this.#streams.delete(this.#streams.values().next().value as StreamId);
    return true;
  }

  /** Removes the stream of a message that has not succeeded or will not be run. */
  break({ streamId }: WorkItem): void {
    if (streamId !== null) this.#streams.delete(streamId);
  }
}
