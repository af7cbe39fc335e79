import type { TransportConnection, TransportMessage } from '../../src/transports/index.js';

/** A transport on trial: a broker of its own with nothing in it. The conformance suite needs no more of it. */
export interface TransportSubject extends AsyncDisposable {
  /** One more running instance of a service. The suite closes its connection. */
  join(service: string): Promise<SubjectInstance>;
  /** The broker cannot be reached from now on. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /**
   * Runs the sending of four messages or more so that some or all of them arrive and the sender is not told: it
   * rejects. Afterwards the broker can be reached.
   */
  loseAnswerTo(send: () => Promise<unknown>): Promise<void>;
  /** This message, changed so that the transport refuses it and only it. */
  refused(message: TransportMessage): TransportMessage;
  /** For a transport without deliveries: what has arrived at the service, in its order. */
  stored?(service: string): Promise<readonly StoredMessage[]>;
  /** Has bytes that are no message arrive at the address. */
  sendUnreadable?(address: string, bytes: Uint8Array): Promise<void>;
}

export interface SubjectInstance {
  readonly connection: TransportConnection;
  /** What the worker does before it sends: leases the messages, where the transport looks at that. */
  hold?(messages: readonly TransportMessage[]): Promise<void>;
}

/** What a service has once the message has arrived. */
export type StoredMessage = Omit<TransportMessage, 'address'>;

/** What a transport may be without, each with the reason why that is no fault. */
export interface Lacking {
  readonly deliveries?: string;
  readonly unreadableContent?: string;
}
