// Adapters over the in-process hub, which is right, changed so that they are wrong in one way.
// In: a hub, and the change. Out: a transport. Called by the tests of the conformance suite.
import type {
  Delivery,
  InProcessTransport,
  Transport,
  TransportConnection,
  TransportMessage,
  TransportTraits,
} from '../../../src/transports/index.js';
import { never } from '../world.js';

/** A connection that changes what it overrides and leaves the rest to the one it wraps. */
export type Change = (inner: TransportConnection, service: string) => Partial<TransportConnection>;

export function changed(
  hub: InProcessTransport,
  change: Change,
  traits: Partial<TransportTraits> = {},
): Transport {
  return {
    name: 'wrong',
    traits: { ...hub.traits, ...traits },
    connect: async (host) => {
      const inner = await hub.connect(host);
      return {
        send: (messages, signal) => inner.send(messages, signal),
        receive: (subscription, deliver) => inner.receive(subscription, deliver),
        ready: (signal) => inner.ready(signal),
        close: () => inner.close(),
        ...change(inner, host.instance.serviceName),
      };
    },
  };
}

/** A delivery of the hub, whose message can be put behind everything that waits in the service's queue. */
export interface Taken {
  readonly delivery: Delivery;
  readonly acknowledge: () => Promise<void>;
  readonly reject: () => Promise<void>;
  /** Takes the message from its place in the queue, and puts it at the end. */
  readonly toTheBack: () => Promise<void>;
}

/** Receives like the hub, from a queue that has an address for its end. */
export async function receiveFrom(
  inner: TransportConnection,
  service: string,
  [subscription, deliver]: Parameters<TransportConnection['receive']>,
  handle: (taken: Taken) => Delivery,
): ReturnType<TransportConnection['receive']> {
  const end = `end of ${service}`;
  const addresses = [...subscription.addresses, end];
  return inner.receive({ ...subscription, addresses }, (delivery) => {
    const { content } = delivery;
    const isBack = content.address === end && 'payload' in content;
    const original = isBack ? (content.payload as TransportMessage) : content;
    const toTheBack = async () => {
      if ('unreadable' in original) return delivery.reject();
      await inner.send([{ ...original, address: end, payload: original }], never).catch(() => {});
      await delivery.acknowledge();
    };
    const acknowledge = () => delivery.acknowledge();
    const reject = () => delivery.reject();
    deliver(handle({ delivery: { content: original, acknowledge, reject }, acknowledge, reject, toTheBack }));
  });
}
