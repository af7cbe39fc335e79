import { azureServiceBusTransport } from '../../src/azure-service-bus.js';
import { postgresTransport } from '../../src/index.js';
import { natsTransport } from '../../src/nats.js';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { sqsTransport } from '../../src/sqs.js';
import type { Transport } from '../../src/transport.js';
import type { Way } from './plan.js';
import { lockSeconds } from './size.js';

export async function transportOf(way: Way): Promise<Transport> {
  switch (way.by) {
    case 'rabbitmq':
      return rabbitmqTransport({ urls: way.urls, prefix: way.prefix });
    case 'azure': {
      const { connectionString, administrationUrl } = way;
      return azureServiceBusTransport({ connectionString, administrationUrl, lockSeconds });
    }
    case 'sqs':
      return sqsTransport({
        region: 'us-east-1',
        endpoint: way.endpoint,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        topic: way.topic,
        visibilitySeconds: lockSeconds,
        waitSeconds: 1,
      });
    case 'nats':
      return natsTransport({
        servers: way.servers,
        prefix: way.prefix,
        replicas: way.replicas,
        leaseSeconds: 3,
      });
    case 'postgres':
      return postgresTransport({ databases: way.databases });
  }
}
