// The door `whizbang/transport`: what a transport of your own implements, and the form of a message on the wire.
// Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.

export {
  type Delivery,
  decodeMessage,
  encodeMessage,
  type InProcessTransport,
  type Receiver,
  type SendOutcome,
  type Subscription,
  type Transport,
  type TransportConnection,
  type TransportHost,
  type TransportMessage,
  type UnreadableContent,
} from './transports/index.js';
