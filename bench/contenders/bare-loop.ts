// The loop of a broker's client by itself: publish in batches, wait until the broker has confirmed them, consume, acknowledge.
// No outbox, no inbox, no database, no order within a stream. It is no bar for a transport, but what remains of it tells
// what the database costs.
import { Tally } from '../measure/tally.js';
import { messageSource } from '../messages.js';
import { type Runner, repeatFor } from './contender.js';

const batchSize = 100;

export interface BareLoop {
  readonly streams: number;
  readonly messagesPerCycle: number;
}

interface BareClient {
  readonly name: string;
  /** Resolves when the broker has stored all of them. */
  publish(bodies: readonly Buffer[]): Promise<unknown>;
  close(): Promise<void>;
}

/** `open` gets what is to be called for each message that has arrived and is being acknowledged. */
export async function openBareLoop(
  { streams, messagesPerCycle }: BareLoop,
  open: (onArrival: (body: Uint8Array) => void) => Promise<BareClient>,
): Promise<Runner> {
  const [arrived, nextBatch] = [new Tally(), messageSource(streams)];
  const client = await open((body) => {
    JSON.parse(Buffer.from(body).toString('utf8'));
    arrived.add();
  });
  let sent = 0;
  const cycle = async () => {
    const goal = sent + messagesPerCycle;
    while (sent < goal) {
      const batch = nextBatch(Math.min(batchSize, goal - sent));
      sent += batch.length;
      await client.publish(batch.map((message) => Buffer.from(JSON.stringify(message))));
    }
    await arrived.reaches(goal);
    return messagesPerCycle;
  };
  return {
    name: client.name,
    slice: (milliseconds) => repeatFor(milliseconds, cycle),
    close: () => client.close(),
  };
}
