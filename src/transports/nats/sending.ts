import { WhizbangError } from '../../errors.js';
import { shardOfMessage } from '../order/shards.js';
import { sendInWaves } from '../order/waves.js';
import type { SendOutcome, TransportMessage } from '../transport.js';
import { answerMs, type NatsClient } from './client.js';
import type { NatsNames } from './names.js';
import { apiCodeOf, apiCodes, jetStreamFailed, unavailable } from './nats-errors.js';
import { type NatsContent, sizeOf, toNats } from './nats-wire.js';

/**
 * Sends in waves, each of them at once: a publish of which no answer came may still be stored, behind later ones. When one
 * of a wave has no answer, all of it is unknown, and this rejects.
 */
export function sendAll(
  client: NatsClient,
  names: NatsNames,
  messages: readonly TransportMessage[],
  signal: AbortSignal,
): Promise<readonly SendOutcome[]> {
  return sendInWaves(messages, async (wave) => {
    signal.throwIfAborted();
    const results = await Promise.allSettled(wave.map((message) => sendOne(client, names, message)));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  });
}

async function sendOne(
  client: NatsClient,
  names: NatsNames,
  message: TransportMessage,
): Promise<SendOutcome> {
  let content: NatsContent;
  let subject: string;
  try {
    content = toNats(message);
    subject = names.message(message.address, shardOfMessage(message, names.shards));
  } catch (error) {
    return { kind: 'failed', error, final: true };
  }
  const max = client.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  if (sizeOf(content) > max)
    return { kind: 'failed', error: tooLarge(message, sizeOf(content), max), final: true };
  const headers = client.core.headers();
  for (const [name, value] of content.headers) headers.set(name, value);
  try {
    await client.js.publish(subject, content.data, { headers, timeout: answerMs });
    return { kind: 'sent' };
  } catch (error) {
    return failure(client, names, message, content, error);
  }
}

/** Only what NATS has against this message is its failure. Everything else is an outage, and the outcome is unknown. */
function failure(
  client: NatsClient,
  names: NatsNames,
  message: TransportMessage,
  content: NatsContent,
  error: unknown,
): SendOutcome {
  const code = apiCodeOf(error);
  if (code === apiCodes.messageTooLarge || code === apiCodes.headerTooLarge)
    return { kind: 'failed', error: tooLarge(message, sizeOf(content), undefined, error), final: true };
  const reason = jetStreamFailed(client, names.stream, error);
  throw reason.code === 'TRANSPORT_UNAVAILABLE'
    ? reason
    : unavailable(`NATS takes no messages: ${reason.message} ${reason.hint}`, reason);
}

function tooLarge(
  { messageId, type }: TransportMessage,
  bytes: number,
  max: number | undefined,
  cause?: unknown,
): WhizbangError {
  const limit = max === undefined ? 'the stream takes' : `NATS takes ${max}`;
  return new WhizbangError('INVALID_MESSAGE', {
    message: `Message ${messageId} of type ${type} has ${bytes} bytes on the wire, and ${limit}${max === undefined ? ' fewer' : ' at most'}.`,
    hint: 'Store what is large elsewhere and send a reference to it, or raise max_payload in the configuration of nats-server.',
    details: { messageId, type, bytes, ...(max !== undefined && { max }) },
    ...(cause !== undefined && { cause }),
  });
}
