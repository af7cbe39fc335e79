// Services of one process, connected through memory: for tests, examples and development.
// In: connections of any number of services and instances. Out: the behaviour of a broker, with its outages on demand.
// Called by the workers through Transport, and by tests. It keeps nothing: what it holds is gone with the process.
import type { Transport } from '../transport.js';
import { Hub } from './hub.js';
import { HubConnection } from './hub-connection.js';

/** Give the same one to every service that shall talk to the others. */
export interface InProcessTransport extends Transport {
  /**
   * An outage: connecting and sending are refused, nothing is delivered, and acknowledgements do not get through.
   * With `afterMessages` that many messages are taken first, so that a batch is cut in the middle: its sender learns
   * of no outcome, as with a broker whose confirmation was lost.
   */
  goAway(options?: { readonly afterMessages?: number }): void;
  /** The outage is over. What was delivered and not acknowledged before it comes again. */
  comeBack(): void;
  /** What a foreign program might send to this address. */
  deliverUnreadable(address: string, bytes: Uint8Array): void;
  /** How many messages wait or are unacknowledged, for one service or all: zero when all has been stored. */
  pending(service?: string): number;
}

/** For tests, examples and development: services of one process, connected through memory. */
export function inProcessTransport(): InProcessTransport {
  const hub = new Hub();
  return {
    name: 'in-process',
    connect: async (host) => {
      hub.refuseWhenAway();
      return new HubConnection(hub, host.instance.serviceName);
    },
    goAway: (options) => hub.goAway(options?.afterMessages),
    comeBack: () => hub.comeBack(),
    deliverUnreadable: (address, bytes) => hub.accept(null, { address, bytes: bytes.slice() }),
    pending: (service) => hub.pending(service),
  };
}
