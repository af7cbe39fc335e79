import { addressName } from '../wire/address-name.js';

/** What is where: `<prefix>.<address>.<shard>` are messages, `<prefix>.floor.<service>.<shard>` how far a service is. */
export class NatsNames {
  constructor(
    /** The name of the stream, too. */
    readonly prefix: string,
    readonly shards: number,
  ) {}

  get stream(): string {
    return this.prefix;
  }

  /** Each shard by itself: a sender with another number of shards meets no stream. */
  get subjects(): readonly string[] {
    return Array.from({ length: this.shards }, (_, shard) => [
      this.messagesOf(shard),
      `${this.prefix}.floor.*.${shard}`,
    ]).flat();
  }

  messagesOf(shard: number): string {
    return `${this.prefix}.*.${shard}`;
  }

  message(address: string, shard: number): string {
    return `${this.prefix}.${tokenOf(address)}.${shard}`;
  }

  floor(service: string, shard: number): string {
    return `${this.prefix}.floor.${tokenOf(service)}.${shard}`;
  }

  get floors(): string {
    return `${this.prefix}.floor.*.*`;
  }
}

/** An address as one word of a subject. */
export const tokenOf = (address: string): string => addressName(address, { max: 200 });
