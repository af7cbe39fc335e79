import { setTimeout as pause } from 'node:timers/promises';
import { WhizbangError } from '../../errors.js';
import { sendInWaves } from '../order/waves.js';
import type { SendOutcome, TransportMessage } from '../transport.js';
import type { Aws } from './aws.js';
import { refusesRequest, saysMissing } from './aws-errors.js';
import { toWire, type WireMessage } from './wire.js';

const mostInBatch = 10;
/** Requests at one time. They are of different streams. */
const mostRequests = 8;
/** How often a message is sent again that AWS failed to take by its own fault, and the first pause before it. */
const tries = 4;
const firstPauseMs = 100;

interface Target {
  readonly aws: Aws;
  readonly topicArn: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Publishes in waves: a batch may fail in parts, so none has two messages of a stream, and the next of a stream leaves
 * when the one before is confirmed. Rejects when it is not known what was published, or when nothing can be.
 */
export async function publish(
  messages: readonly TransportMessage[],
  target: Target,
): Promise<readonly SendOutcome[]> {
  return sendInWaves(messages, async (wave) => {
    const outcomes = new Map<string, SendOutcome>();
    const written: WireMessage[] = [];
    for (const message of wave) {
      try {
        written.push(toWire(message, target.maxBytes));
      } catch (error) {
        outcomes.set(message.messageId, { kind: 'failed', error, final: true });
      }
    }
    const batches = inBatches(written, target.maxBytes);
    const publishSome = async () => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift())
        for (const [id, outcome] of await publishBatch(batch, target)) outcomes.set(id, outcome);
    };
    const results = await Promise.allSettled(Array.from({ length: mostRequests }, publishSome));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return wave.map(({ messageId }) => outcomes.get(messageId) as SendOutcome);
  });
}

/** Batches of ten, none larger in all than one message may be. */
function inBatches(messages: readonly WireMessage[], maxBytes: number): WireMessage[][] {
  const batches: WireMessage[][] = [];
  let size = 0;
  for (const message of messages) {
    const last = batches.at(-1);
    if (last === undefined || last.length === mostInBatch || size + message.bytes > maxBytes) {
      batches.push([message]);
      size = message.bytes;
    } else {
      last.push(message);
      size += message.bytes;
    }
  }
  return batches;
}

type Outcomes = ReadonlyMap<string, SendOutcome>;

async function publishBatch(batch: readonly WireMessage[], target: Target): Promise<Outcomes> {
  const outcomes = new Map<string, SendOutcome>();
  let rest = batch;
  for (let tried = 1, pauseMs = firstPauseMs; ; tried++, pauseMs *= 2) {
    const { successful, failed } = await ask(rest, target);
    for (const id of successful) outcomes.set(id, { kind: 'sent' });
    for (const [id, error] of failed) outcomes.set(id, { kind: 'failed', error, final: true });
    rest = rest.filter(({ entry }) => !outcomes.has(entry.Id as string));
    if (rest.length === 0) return outcomes;
    if (tried === tries) throw notTaken(rest.length, target.topicArn);
    await pause(pauseMs, undefined, { signal: target.signal }).catch(() => target.signal.throwIfAborted());
  }
}

interface Answer {
  readonly successful: readonly string[];
  /** Refused for what they are. Those in neither list were not taken by AWS's own fault. */
  readonly failed: readonly (readonly [string, WhizbangError])[];
}

async function ask(batch: readonly WireMessage[], target: Target): Promise<Answer> {
  const { aws, topicArn, signal } = target;
  const request = { action: 'sns:Publish', resource: topicArn, signal };
  try {
    const { Successful = [], Failed = [] } = await aws.request(request, (options) =>
      aws.sns.publishBatch(
        { TopicArn: topicArn, PublishBatchRequestEntries: batch.map(({ entry }) => entry) },
        options,
      ),
    );
    const refused = Failed.filter(({ SenderFault }) => SenderFault);
    return {
      successful: Successful.map(({ Id }) => Id as string),
      failed: refused.map(({ Id, Code, Message }) => [Id as string, refusal(Id, `${Code}: ${Message}`)]),
    };
  } catch (error) {
    if (!refusesRequest(error) || saysMissing(error)) throw error;
    const [only, ...others] = batch as [WireMessage, ...WireMessage[]];
    const id = only.entry.Id as string;
    if (others.length === 0)
      return { successful: [], failed: [[id, refusal(id, (error as Error).message, error)]] };
    // One of them is the reason: each alone, so that the others leave.
    const answers: Answer[] = [];
    for (const each of batch) answers.push(await ask([each], target));
    return {
      successful: answers.flatMap(({ successful }) => successful),
      failed: answers.flatMap(({ failed }) => failed),
    };
  }
}

function refusal(messageId: string | undefined, why: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message: `SNS refuses message ${messageId}: ${why}`,
    hint: 'Correct what SNS names. The message is kept as a dead letter.',
    details: { messageId },
    cause,
  });
}

function notTaken(count: number, topicArn: string): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `SNS did not take ${count} messages of a batch, by a fault of its own, ${tries} times.`,
    details: { action: 'sns:Publish', resource: topicArn },
  });
}
