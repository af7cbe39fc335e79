// What is told of a message that went well. Made only when somebody listens.
import type { WorkItem } from '../message.js';
import type { Task } from '../work/index.js';
import type { WhizbangEvents } from './events.js';

export function handledNotice<Tx>({
  item: { messageId, eventType: type, streamId },
  receptor: { name: receptor },
  attempt,
  durationMs = 0,
}: Task<Tx>): WhizbangEvents['handled'][0] {
  return { source: 'inbox', messageId, type, receptor, streamId, attempt, durationMs };
}

export function publishedNotice(
  { messageId, eventType: type, destination, streamId, attempts }: WorkItem,
  durationMs: number,
): WhizbangEvents['published'][0] {
  return { source: 'outbox', messageId, type, destination, streamId, attempt: attempts + 1, durationMs };
}
