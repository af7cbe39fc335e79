// Services of one process, connected through memory: for tests, examples and development.
// In: connections of any number of services and instances. Out: the behaviour of a broker, with its outages on demand.
// Called by the workers through Transport, and by tests. It keeps nothing: what it holds is gone with the process.
import type { Transport } from '../transport.js';
import { Hub } from './hub.js';
import { HubConnection } from './hub-connection.js';

/** A transport in memory. Pass the same one to all services that send to each other. */
export interface InProcessTransport extends Transport {
  /**
   * Starts an outage: sending is refused, nothing is delivered, and acknowledgements are lost. With `afterMessages`, that
   * many messages are accepted first, so that a batch is cut in the middle. Its sender then receives no outcome, as with
   * a broker whose confirmation was lost. With `forMessages`, the outage ends by itself once so many were refused.
   */
  goAway(options?: { readonly afterMessages?: number; readonly forMessages?: number }): void;
  /** Ends the outage. What was delivered and not acknowledged before it comes again. */
  comeBack(): void;
  /** Delivers bytes to this address as a foreign program might send them. */
  deliverUnreadable(address: string, bytes: Uint8Array): void;
  /**
   * The number of messages that wait or are unacknowledged, for one service or all. Zero when all are stored.
   */
  pending(service?: string): number;
}

/** A transport for tests, examples and development: services of one process, connected through memory. */
export function inProcessTransport(): InProcessTransport {
  const hub = new Hub();
  return {
    name: 'in-process',
    traits: { moves: 'stream', sent: 'memory', knowsReceivers: false },
    connect: async (host) => new HubConnection(hub, host),
    goAway: (options) => hub.goAway(options?.afterMessages, options?.forMessages),
    comeBack: () => hub.comeBack(),
    deliverUnreadable: (address, bytes) => hub.accept(null, { address, bytes: bytes.slice() }),
    pending: (service) => hub.pending(service),
  };
}
