import type { QueueFacts } from '../transport.js';
import type { NatsClient } from './client.js';
import { readFloor } from './floors.js';
import type { NatsNames } from './names.js';
import type { NatsReceiver } from './nats-receiver.js';

/** What waits for the service, per shard; nothing for one that has not subscribed. NATS counts it through a consumer that is made for this and removed. */
export async function inspectShards(
  client: NatsClient,
  names: NatsNames,
  service: string,
  receivers: readonly NatsReceiver[],
): Promise<readonly QueueFacts[]> {
  const facts: QueueFacts[] = [];
  for (let shard = 0; shard < names.shards; shard++) {
    const written = await readFloor({ client, names, service, shard });
    if (written === undefined) continue;
    const from = written.floor + 1;
    const addresses = new Set([...written.addresses, ...receivers.flatMap((each) => each.addresses)]);
    let waiting = 0;
    let oldest: number | undefined;
    for (const address of addresses) {
      const subject = names.message(address, shard);
      const count = await countFrom(client, names, subject, from);
      if (count === 0) continue;
      waiting += count;
      // The client's types do not know this way to ask; the server does since 2.2.
      const next = { seq: from, next_by_subj: subject } as { seq: number };
      const first = await client.jsm.streams.getMessage(names.stream, next);
      if (first !== null) oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, first.time.getTime());
    }
    const unacknowledged = receivers.reduce((sum, receiver) => sum + receiver.unacknowledged(shard), 0);
    facts.push({
      name: names.floor(service, shard),
      depth: Math.max(waiting - unacknowledged, 0),
      unacknowledged,
      consumers: null,
      oldestSeconds: oldest === undefined ? null : Math.max((Date.now() - oldest) / 1000, 0),
    });
  }
  return facts;
}

async function countFrom(
  { jsm }: NatsClient,
  names: NatsNames,
  subject: string,
  from: number,
): Promise<number> {
  const { name, num_pending } = await jsm.consumers.add(names.stream, {
    ack_policy: 'none',
    deliver_policy: 'by_start_sequence',
    opt_start_seq: from,
    filter_subject: subject,
    mem_storage: true,
    inactive_threshold: 10_000_000_000,
  });
  await jsm.consumers.delete(names.stream, name).catch(() => false);
  return num_pending;
}
