import type { BrokerFinding } from '../transport.js';
import type { NatsClient } from './client.js';
import type { NatsNames } from './names.js';

const safeReplicas = 3;
/** The share of an account's storage from which on it is worth a look. */
const fullShare = 0.8;

/** What a stream can lose or refuse although its settings are right: those were checked when the client connected. */
export async function examineStream({ jsm }: NatsClient, names: NatsNames): Promise<BrokerFinding[]> {
  const { config } = await jsm.streams.info(names.stream);
  // Not a right that a service needs: without it, this is left out.
  const account = await jsm.getAccountInfo().catch(() => undefined);
  const findings: BrokerFinding[] = [];
  if (config.num_replicas < safeReplicas)
    findings.push({
      level: 'warning',
      text: `The stream ${names.stream} at NATS is kept on ${config.num_replicas === 1 ? 'one server' : `${config.num_replicas} servers`}: a message that was confirmed may be lost with its machine.`,
      remedy: `In a cluster of three servers: nats stream edit ${names.stream} --replicas=${safeReplicas}. With one server set sync_interval: always in its configuration (NATS 2.10 or later), which NATS does not tell: then this can be ignored.`,
    });
  const { storage = 0, limits: { max_storage: most = 0 } = {} } = account ?? {};
  if (most > 0 && storage > most * fullShare)
    findings.push({
      level: 'warning',
      text: `The account at NATS has used ${storage} of ${most} bytes. When they are used up, nothing can be sent.`,
      remedy:
        'Raise max_file of the account, or start the services that have not received: see the depth of their queues.',
    });
  return findings;
}
