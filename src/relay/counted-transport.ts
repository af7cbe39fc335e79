// The transport of a relay: it sends over one and receives from another, and counts both.
import type {
  Delivery,
  Transport,
  TransportConnection,
  TransportHost,
  TransportMessage,
  TransportState,
} from '../transports/index.js';

/** What has passed since the start of the process. */
export class Counts {
  published = 0;
  /** Attempts that a transport has refused. */
  failed = 0;
  deadLetters = 0;
  received = 0;
}

/** `from` may be the same transport: it is connected to once. */
export function countedTransport(to: Transport, from: Transport | undefined, counts: Counts): Transport {
  return {
    name: from === undefined || from === to ? to.name : `${to.name}, from ${from.name}`,
    traits: to.traits,
    connect: async (host) => {
      const { sending, receiving } = await connectBoth(to, from, host);
      const send: TransportConnection['send'] = async (messages, signal) => {
        const outcomes = await sending.send(messages, signal);
        for (const { kind } of outcomes) {
          if (kind === 'sent' || kind === 'settled') counts.published++;
          else if (kind === 'failed') counts.failed++;
        }
        return outcomes;
      };
      return {
        send,
        receive: (subscription, deliver) =>
          receiving.receive(subscription, (delivery) => deliver(counted(delivery, counts))),
        ready: (signal) => sending.ready(signal),
        close: async () =>
          void (await Promise.allSettled([...new Set([sending, receiving])].map((each) => each.close()))),
      };
    },
  };
}

async function connectBoth(
  to: Transport,
  from: Transport | undefined,
  host: TransportHost,
): Promise<{ readonly sending: TransportConnection; readonly receiving: TransportConnection }> {
  if (from === undefined || from === to) {
    const connection = await to.connect(host);
    return { sending: connection, receiving: connection };
  }
  let send: TransportState = { sending: true, receiving: true };
  let receive = send;
  const tell = () => {
    const error = send.sending ? receive.error : send.error;
    host.onState({
      sending: send.sending,
      receiving: receive.receiving,
      ...(error !== undefined && { error }),
    });
  };
  const sending = await to.connect({
    ...host,
    onState: (state) => {
      send = state;
      tell();
    },
  });
  try {
    const receiving = await from.connect({
      ...host,
      onState: (state) => {
        receive = state;
        tell();
      },
    });
    return { sending, receiving };
  } catch (error) {
    await sending.close();
    throw error;
  }
}

/** Counts a delivery when it is stored. */
function counted(delivery: Delivery, counts: Counts): Delivery {
  return {
    content: delivery.content as TransportMessage,
    acknowledge: () => {
      counts.received++;
      return delivery.acknowledge();
    },
    reject: () => delivery.reject(),
  };
}
