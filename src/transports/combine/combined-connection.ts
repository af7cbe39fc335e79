import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { wasSent, withHeldBack } from '../order/waves.js';
import type {
  Delivery,
  QueueFacts,
  Receiver,
  SendOutcome,
  Subscription,
  Transport,
  TransportConnection,
  TransportHost,
  TransportMessage,
  TransportState,
} from '../transport.js';
import { HeldDeliveries } from './held-deliveries.js';

const working: TransportState = { sending: true, receiving: true };

export class CombinedConnection implements TransportConnection {
  readonly #connections: readonly TransportConnection[];
  readonly #names: readonly string[];
  readonly #logger: Logger;
  readonly #holders: HeldDeliveries[] = [];

  private constructor(
    connections: readonly TransportConnection[],
    transports: readonly Transport[],
    { logger }: TransportHost,
  ) {
    this.#connections = connections;
    this.#names = transports.map(({ name }) => name);
    this.#logger = logger;
  }

  static async open(transports: readonly Transport[], host: TransportHost): Promise<CombinedConnection> {
    const states = transports.map(() => working);
    const onState = () => {
      const failed = states.find(({ error }) => error !== undefined);
      host.onState({
        sending: states.every(({ sending }) => sending),
        receiving: states.every(({ receiving }) => receiving),
        ...(failed !== undefined && { error: failed.error }),
      });
    };
    // None of several transports can know that nobody gets a message.
    const { onUnheard: _, ...shared } = host;
    const opening = transports.map((transport, i) =>
      transport.connect({
        ...shared,
        onState: (state) => {
          states[i] = state;
          onState();
        },
      }),
    );
    const connections = await allOrNone(opening, (connection) => connection.close());
    return new CombinedConnection(connections, transports, host);
  }

  /**
   * One transport after the other, so that a message has left by all of them when its row is completed. What one of
   * them did not send does not go to the next; when it is tried again, those that have it already get it twice.
   */
  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    const outcomes = new Map<TransportMessage, SendOutcome>();
    let rest = messages;
    for (const connection of this.#connections) {
      if (rest.length === 0) break;
      const results = await connection.send(rest, signal);
      const stopped = new Set<string>();
      const unheard = new Map<string, SendOutcome>();
      rest = rest.filter((message, i) => {
        const { streamId } = message;
        const result = results[i] ?? { kind: 'held-back' };
        if (isWithoutReceiver(result)) unheard.set(keyOf(message), result);
        // Behind a command without a receiver, to the same address: this one has no receiver either.
        const own = result.kind === 'held-back' ? (unheard.get(keyOf(message)) ?? result) : result;
        const outcome = joined(outcomes.get(message), own);
        const isBehind = streamId !== null && stopped.has(streamId);
        outcomes.set(message, isBehind ? { kind: 'held-back' } : outcome);
        const goesOn = !isBehind && (wasSent(outcome) || isWithoutReceiver(outcome));
        if (!goesOn && streamId !== null) stopped.add(streamId);
        return goesOn;
      });
    }
    return withHeldBack(messages, outcomes);
  }

  /** What a transport delivers waits until those before it have nothing left: see HeldDeliveries. */
  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    const open = new Set<Delivery>();
    const holders: HeldDeliveries[] = [];
    const opening: Promise<Receiver>[] = [];
    for (const [i, connection] of this.#connections.entries()) {
      const isLast = i === this.#connections.length - 1;
      const hand = isLast ? deliver : (delivery: Delivery) => deliver(counted(delivery, open));
      const holder = i === 0 ? undefined : this.#hold(i, Promise.all(opening), open, hand);
      if (holder !== undefined) holders.push(holder);
      opening.push(connection.receive(subscription, holder?.take ?? hand));
    }
    this.#holders.push(...holders);
    const receivers = await allOrNone(opening, (receiver) => receiver.stop()).catch(
      async (error: unknown) => {
        await Promise.all(holders.map((holder) => holder.stop()));
        throw error;
      },
    );
    return {
      stop: async () => {
        await Promise.all(receivers.map((receiver) => receiver.stop()));
        await Promise.all(holders.map((holder) => holder.stop()));
      },
    };
  }

  /** Holds what the transport at this place delivers. */
  #hold(
    place: number,
    subscribed: Promise<unknown>,
    open: ReadonlySet<Delivery>,
    deliver: (delivery: Delivery) => void,
  ): HeldDeliveries {
    subscribed.catch(() => {}); // whoever subscribes is told
    const older = this.#connections
      .slice(0, place)
      .map((connection, i) => ({ name: this.#names[i] as string, connection }));
    return new HeldDeliveries({ older, subscribed, open, deliver, logger: this.#logger });
  }

  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.ready(signal)));
  }

  async inspect(): Promise<readonly QueueFacts[]> {
    const facts = await Promise.all(this.#connections.map(async (connection) => connection.inspect?.()));
    return facts.flatMap((each) => each ?? []);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#connections.map((connection) => connection.close()));
    await Promise.allSettled(this.#holders.splice(0).map((holder) => holder.stop()));
  }
}

/** The outcome over two transports: a command needs a receiver at one of them, and `settled` needs no report. */
function joined(before: SendOutcome | undefined, now: SendOutcome): SendOutcome {
  if (before === undefined) return now;
  if (isWithoutReceiver(now) && wasSent(before)) return before;
  return now;
}

const keyOf = ({ streamId, address }: TransportMessage) => JSON.stringify([streamId, address]);

/** A delivery that is in the set until it is stored or given back. */
function counted(delivery: Delivery, open: Set<Delivery>): Delivery {
  open.add(delivery);
  const end = async (work: () => Promise<void>) => {
    await work().finally(() => open.delete(delivery));
  };
  return {
    content: delivery.content,
    acknowledge: () => end(() => delivery.acknowledge()),
    reject: () => end(() => delivery.reject()),
  };
}

const isWithoutReceiver = (outcome: SendOutcome) =>
  outcome.kind === 'failed' && outcome.error instanceof WhizbangError && outcome.error.code === 'NO_RECEIVER';

async function allOrNone<T>(
  opening: readonly Promise<T>[],
  undo: (opened: T) => Promise<unknown>,
): Promise<readonly T[]> {
  const results = await Promise.allSettled(opening);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return results.map((result) => (result as PromiseFulfilledResult<T>).value);
  const opened = results.filter((result) => result.status === 'fulfilled');
  await Promise.allSettled(opened.map(({ value }) => undo(value)));
  throw failed.reason;
}
