// Whose turn it was. An instance that reports on a stream may be handed its next messages by the same call; the streams that
// waited come first then, and a stream of somebody else's partition is let go. Called by the judge, when a call has been applied.
import type { BatchCall, LaneName, Report } from './batch-call.js';
import { broken, type Model, type ModelMessage } from './model.js';

interface Turns {
  /** The reports on what the caller held. */
  readonly reportedOn: readonly Report[];
  readonly stored: readonly ModelMessage[];
  readonly handedOut: readonly ModelMessage[];
  /** What somebody held before anything was handed out. */
  readonly held: readonly ModelMessage[];
}

export function checkTurns(
  model: Model,
  call: BatchCall,
  { reportedOn, stored, handedOut, held }: Turns,
): void {
  if (call.maxPartitions !== null) return;
  const reported = new Set(reportedOn.map(({ lane, id }) => streamOf(model.find(lane, id))));
  const continued = handedOut.filter((item) => reported.has(streamOf(item)) && !stored.includes(item));
  for (const item of continued) {
    if (
      call.takeoverSeconds > 0 &&
      call.spare === 0 &&
      !model.owns(call.instanceId, item.lane, item.partition, call.staleSeconds)
    )
      broken('a stream of another one’s partition is kept', item);
  }
  if (call.takeoverSeconds > 0) return;
  // What the call reports on may be cooling, also where its lease had run out and nobody had taken it.
  const reports = call.reports.map(({ lane, id }) => streamOf(model.find(lane, id)));
  const skipped = new Set([...reports, ...held.map(streamOf), ...handedOut.map(streamOf)]);
  for (const item of continued) {
    const passedBy = firstOfEach(model.unfinished()).find(
      (first) =>
        first.lane === item.lane &&
        first.dueAt <= model.now &&
        !skipped.has(streamOf(first)) &&
        !stored.includes(first) &&
        // One that holds an event may have to wait until it is appended.
        !model.unfinished().some((each) => streamOf(each) === streamOf(first) && each.isEvent),
    );
    if (passedBy !== undefined) broken('a stream that waited is passed by', { item, passedBy });
  }
}

/** The first message of every stream. */
function firstOfEach(messages: readonly ModelMessage[]): ModelMessage[] {
  const first = new Map<string, ModelMessage>();
  for (const message of messages) {
    const known = first.get(streamOf(message));
    if (known === undefined || message.order < known.order) first.set(streamOf(message), message);
  }
  return [...first.values()];
}

function streamOf(message: { lane: LaneName; key: string } | undefined): string {
  return `${message?.lane} ${message?.key}`;
}
