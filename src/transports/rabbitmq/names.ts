// How addresses and services are spelled at the broker. The streams of an address are spread over a fixed number of slots,
// which the routing key names, and each queue of a service is bound to its share of them. So the number of queues
// is the receiver's affair, and senders need not know it.
import { shardOfMessage } from '../order/shards.js';
import type { TransportMessage } from '../transport.js';
import { addressName } from '../wire/address-name.js';

/** Never to be changed: senders and receivers of all versions have to agree on it. */
export const slots = 16;

/** Queue names and routing keys have 255 bytes. This leaves room for the prefix, the slot and the shard. */
const longestName = 200;

const nameOf = (address: string) => addressName(address, { max: longestName });

export interface Names {
  readonly commands: string;
  readonly events: string;
}

export const exchangesOf = (prefix: string): Names => ({
  commands: `${prefix}.commands`,
  events: `${prefix}.events`,
});

/** The number of shards is part of the name: queues of another division are other queues. */
export function queueOf(prefix: string, service: string, shard: number, shards: number): string {
  const queue = `${prefix}.${nameOf(service)}`;
  return shards === 1 ? queue : `${queue}.${shard}-of-${shards}`;
}

export const routingKeyOf = (message: TransportMessage): string =>
  `${nameOf(message.address)}.${shardOfMessage(message, slots)}`;

/** What a queue is bound by, for one address. */
export function bindingKeysOf(address: string, shard: number, shards: number): readonly string[] {
  if (shards === 1) return [`${nameOf(address)}.*`];
  const own = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => slot % shards === shard);
  return own.map((slot) => `${nameOf(address)}.${slot}`);
}

/** Finds the address that a routing key was made of, among those that a service listens to. */
export function addressReader(addresses: readonly string[]): (routingKey: string) => string {
  const known = new Map(addresses.map((address) => [nameOf(address), address]));
  return (routingKey) => known.get(routingKey.slice(0, routingKey.lastIndexOf('.'))) ?? routingKey;
}
