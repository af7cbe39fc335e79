import type { BrokerFinding } from '../transport.js';
import type { NatsClient } from './client.js';
import type { NatsNames } from './names.js';

const safeReplicas = 3;
/** The share of an account's storage from which on it is worth a look. */
const fullShare = 0.8;

/** What a stream can lose or refuse although its settings are right: those were checked when the client connected. */
export async function examineStream({ jsm }: NatsClient, names: NatsNames): Promise<BrokerFinding[]> {
  const { config } = await jsm.streams.info(names.stream);
  const { storage, limits } = await jsm.getAccountInfo();
  const findings: BrokerFinding[] = [];
  if (config.num_replicas < safeReplicas)
    findings.push({
      level: 'warning',
      text: `The stream ${names.stream} at NATS is kept on ${config.num_replicas === 1 ? 'one server' : `${config.num_replicas} servers`}: what was confirmed in the last two minutes is lost when its machine loses power.`,
      remedy: `In a cluster of three servers: nats stream edit ${names.stream} --replicas=${safeReplicas}. With one server: sync_interval: always, in the block jetstream of its configuration (NATS 2.10 or later).`,
    });
  if (limits.max_storage > 0 && storage > limits.max_storage * fullShare)
    findings.push({
      level: 'warning',
      text: `The account at NATS has used ${storage} of ${limits.max_storage} bytes. When they are used up, nothing can be sent.`,
      remedy:
        'Raise max_file of the account, or start the services that have not received: see the depth of their queues.',
    });
  return findings;
}
