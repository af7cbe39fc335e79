import { createHash } from 'node:crypto';
import { WhizbangError } from '../errors.js';
import type { StreamId } from '../message.js';
import { isUuid, nilUuid } from '../uuid.js';

/**
 * The namespace of the UUIDs (version 5) for streams whose name is not a UUID. Part of the stored data: never
 * change it.
 */
export const streamNamespace = '48b2326a-d6c4-48f7-82aa-501ca0e861f9';

const namespaceBytes = Buffer.from(streamNamespace.replaceAll('-', ''), 'hex');

/**
 * The id of the stream with this name. A UUID is its own id, in lower case; any other text always gets the
 * same UUID, on every machine. Null and undefined: no stream.
 */
export function streamIdOf(name: string): StreamId;
export function streamIdOf(name: string | null | undefined): StreamId | null;
export function streamIdOf(name: string | null | undefined): StreamId | null {
  const fault = faultOf(name);
  if (fault !== undefined) throw refusal(`A stream id ${fault}.`);
  return name == null ? null : idOf(name);
}

/** Returns the stream rule of a definition. Its refusals name the type of the definition. */
export function streamOfRule(
  type: string,
  rule: ((payload: unknown) => unknown) | undefined,
): (payload: unknown) => StreamId | null {
  if (rule === undefined) return () => null;
  return (payload) => {
    let name: unknown;
    try {
      name = rule(payload);
    } catch (cause) {
      throw refusal(`${type}: the function stream threw an error.`, { type, cause });
    }
    const fault = faultOf(name);
    if (fault !== undefined)
      throw refusal(`${type}: the stream id that the function stream returned ${fault}.`, { type });
    return name == null ? null : idOf(name as string);
  };
}

function idOf(name: string): StreamId {
  return isUuid(name) ? name.toLowerCase() : nameUuid(name);
}

/** A UUID by RFC 9562, version 5: SHA-1 of namespace and name, with the bits of version and variant set. */
function nameUuid(name: string): StreamId {
  const hash = createHash('sha1').update(namespaceBytes).update(name, 'utf8').digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * The fault of a stream name, if any. A stream that takes all messages by mistake would be handled one
 * message at a time.
 */
function faultOf(name: unknown): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (typeof name !== 'string') return `is a ${typeof name}, a string is needed`;
  if (name === '') return 'is empty';
  if (name === nilUuid) return 'is the nil UUID';
  return undefined;
}

function refusal(message: string, { type, cause }: { type?: string; cause?: unknown } = {}): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message,
    hint: 'Return the id of what the message is about, or null if the message needs no order.',
    details: {
      ...(type === undefined ? {} : { type }),
      issues: [{ path: '', message: 'has no usable stream id' }],
    },
    cause,
  });
}
