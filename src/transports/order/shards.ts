import { hash } from 'node:crypto';
import type { TransportMessage } from '../transport.js';

/**
 * Returns the shard of a stream, from 0 to `count` - 1: the first four bytes of the SHA-256 of its id in lower case,
 * as a number, modulo `count`. It is hashed because ids by time begin alike. The same for ever, and easily written in SQL.
 */
export function shardOf(streamId: string, count: number): number {
  if (count === 1) return 0;
  return Number.parseInt(hash('sha256', streamId.toLowerCase(), 'hex').slice(0, 8), 16) % count;
}

/** Returns the shard of a message. One without a stream is a stream of its own. */
export function shardOfMessage({ streamId, messageId }: TransportMessage, count: number): number {
  return shardOf(streamId ?? messageId, count);
}
