import { type StreamId, WorkBatchFlags, type WorkItem } from '../../message.js';

/** More than are ever held. One that is forgotten too early costs a round: its next message is given back and handed out anew. */
const most = 2_000;

/**
 * The streams of which everything has succeeded so far that was handed out since they were clear. Only in those may a message be run
 * that was handed out behind others (`WorkBatchFlags.Continues`): PostgreSQL may have leased it before it was told that one of them failed.
 */
export class UnbrokenStreams {
  readonly #streams = new Set<StreamId>();

  /** Whether it may be run. What was not handed out behind others begins its stream anew. */
  admits({ streamId, flags }: WorkItem): boolean {
    if (streamId === null) return true;
    if ((flags & WorkBatchFlags.Continues) !== 0) return this.#streams.has(streamId);
    this.#streams.add(streamId);
    if (this.#streams.size > most) this.#streams.delete(this.#streams.values().next().value as StreamId);
    return true;
  }

  /** One of it has not succeeded, or is not going to be run. */
  break({ streamId }: WorkItem): void {
    if (streamId !== null) this.#streams.delete(streamId);
  }
}
