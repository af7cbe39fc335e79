import type {
  TransportConnection,
  TransportMessage,
  TransportState,
  TransportTraits,
} from '../../src/transports/index.js';

/** A transport on trial: a broker of its own with nothing in it. The conformance suite needs no more of it. */
export interface TransportSubject extends AsyncDisposable {
  /** What the transport says of itself. Default: what demands most, a stream that moves alone. */
  readonly traits?: TransportTraits;
  /** After how long the broker takes a delivery back by itself, where it does. The adapter renews that. */
  readonly locksMs?: number;
  /** How many messages of one stream it hands out before the first of them is acknowledged. Default: the prefetch. */
  readonly atOnceOfStream?: number;
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
  /**
   * Runs the sending of twenty messages so that the broker loses one in the middle, and takes those that reach it
   * after that. `send` never rejects.
   */
  dropMiddleOf?(send: () => Promise<unknown>): Promise<void>;
  /** This message, changed so that the transport refuses it and only it. */
  refused(message: TransportMessage): TransportMessage;
  /** The size of a message on the wire. Default: that of structured mode. */
  sizeOf?(message: TransportMessage): number;
  /** For a transport without deliveries: what has arrived at the service, in its order. */
  stored?(service: string): Promise<readonly StoredMessage[]>;
  /** Has bytes that are no message arrive at the address. */
  sendUnreadable?(address: string, bytes: Uint8Array): Promise<void>;
  /** Has a CloudEvent of a foreign program arrive at the address: attributes as headers, or one JSON object. */
  sendForeign?(address: string, event: ForeignCloudEvent): Promise<void>;
}

export interface ForeignCloudEvent {
  readonly mode: 'binary' | 'structured';
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
}

export interface SubjectInstance {
  readonly connection: TransportConnection;
  /** All that its connection has told by `onState`, in order. */
  readonly states?: readonly TransportState[];
  /** What the worker does before it sends: leases the messages, where the transport looks at that. */
  hold?(messages: readonly TransportMessage[]): Promise<void>;
  /** The process dies: its sockets are gone without a goodbye, and nothing that it does afterwards gets through. */
  crash?(): Promise<void>;
}

/** What a service has once the message has arrived. */
export type StoredMessage = Omit<TransportMessage, 'address' | 'source' | 'sequence' | 'sentAt'>;

/** What a transport may be without, or its subject cannot stage, each with the reason why that is no fault. */
export interface Lacking {
  readonly deliveries?: string;
  readonly unreadableContent?: string;
  /** `crash` of an instance. */
  readonly crash?: string;
  /** `dropMiddleOf`. */
  readonly dropMiddleOf?: string;
  /** `locksMs`. */
  readonly locks?: string;
  /** `traits.maxMessageBytes`. */
  readonly sizeLimit?: string;
  /** `sendForeign`. */
  readonly foreignEvents?: string;
  /** `sendForeign` with attributes as headers. */
  readonly binaryMode?: string;
  /** `states` of an instance. */
  readonly states?: string;
  /** Services of any name, not only `shop`, `orders` and `billing`. */
  readonly anyName?: string;
}
