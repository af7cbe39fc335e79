import type { SendOutcome, TransportMessage } from '../transport.js';

/**
 * Sends in waves: the first message of each stream, then the second of each, and so on. So no message of a stream is on
 * its way while an earlier one is unconfirmed, whatever the broker loses. `send` gets one wave and returns the outcome of
 * each of its messages, in the same order; when it rejects, so does this. The later messages of a stream in which one
 * was not sent are held back.
 */
export async function sendInWaves(
  messages: readonly TransportMessage[],
  send: (wave: readonly TransportMessage[]) => Promise<readonly SendOutcome[]>,
): Promise<readonly SendOutcome[]> {
  const outcomes = new Map<TransportMessage, SendOutcome>();
  const stopped = new Set<string>();
  for (const wave of inWaves(messages)) {
    const isFree = ({ streamId }: TransportMessage) => streamId === null || !stopped.has(streamId);
    const free = wave.filter(isFree);
    if (free.length === 0) continue;
    const results = await send(free);
    for (const [i, message] of free.entries()) {
      const outcome: SendOutcome = results[i] ?? { kind: 'held-back' };
      outcomes.set(message, outcome);
      if (message.streamId !== null && !wasSent(outcome)) stopped.add(message.streamId);
    }
  }
  return messages.map((message) => outcomes.get(message) ?? { kind: 'held-back' });
}

/** Groups messages so that no group has two of a stream, and each is in a later group than those before it in its stream. */
function inWaves(messages: readonly TransportMessage[]): readonly (readonly TransportMessage[])[] {
  const waves: TransportMessage[][] = [];
  const depths = new Map<string, number>();
  for (const message of messages) {
    const key = message.streamId ?? message.messageId;
    const depth = depths.get(key) ?? 0;
    depths.set(key, depth + 1);
    const wave = waves[depth];
    if (wave === undefined) waves.push([message]);
    else wave.push(message);
  }
  return waves;
}

export const wasSent = ({ kind }: SendOutcome): boolean => kind === 'sent' || kind === 'settled';

/**
 * The outcomes in order. Behind a message that was not sent, the later ones of its stream are held back, also one that
 * was sent all the same: it comes again, and the inbox takes it once. One that is settled has left the outbox.
 */
export function withHeldBack(
  messages: readonly TransportMessage[],
  outcomes: ReadonlyMap<TransportMessage, SendOutcome>,
): readonly SendOutcome[] {
  const stopped = new Set<string>();
  return messages.map((message) => {
    const { streamId } = message;
    const outcome = outcomes.get(message) ?? { kind: 'held-back' };
    if (streamId === null || outcome.kind === 'settled') return outcome;
    if (stopped.has(streamId)) return { kind: 'held-back' };
    if (!wasSent(outcome)) stopped.add(streamId);
    return outcome;
  });
}
