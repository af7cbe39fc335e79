// What can join two services in the question `transports`. In: nothing. Out: for each way a server, if there is one here, and
// the transport over it. Stand-ins are named as such: they run in the process of the benchmark, in memory, and say what the
// transport and the vendor's client cost, not what the service does.
import { startFauxqs } from 'fauxqs';
import { azureServiceBusTransport } from '../../src/azure-service-bus.js';
import { postgresTransport } from '../../src/index.js';
import { natsTransport } from '../../src/nats.js';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { sqsTransport } from '../../src/sqs.js';
import type { Transport } from '../../src/transport.js';
import type { Broker } from '../../test/support/brokers/broker.js';
import { nats, removeFromNats } from '../../test/support/brokers/nats.js';
import { rabbitmq, removeFromRabbitmq } from '../../test/support/brokers/rabbitmq.js';
import { ServiceBusStandIn } from '../../test/support/brokers/service-bus/service-bus.js';
import type { BenchDatabase } from '../server.js';
import type { BareLoop } from './bare-loop.js';
import { openBareNats } from './bare-nats.js';
import { openBareRabbitmq } from './bare-rabbitmq.js';

export interface Way<Server extends AsyncDisposable> {
  readonly broker: Broker<Server>;
  /** Makes the transport of a service. All services of a run have the same `run`. */
  readonly transport: (server: Server, run: string, service: string, shop: BenchDatabase) => Transport;
  /** The ratio to the PostgreSQL transport that is demanded. */
  readonly atLeast?: number;
  /** Whether each service has a database of its own. */
  readonly apart?: boolean;
  /** What the client of the broker does by itself. */
  readonly bare?: (server: Server, run: string, loop: BareLoop) => ReturnType<typeof openBareNats>;
  /** Removes what the services of the run have left at the broker. */
  readonly remove?: (server: Server, run: string) => Promise<void>;
}

const way = <Server extends AsyncDisposable>(each: Way<Server>) => each as unknown as Way<AsyncDisposable>;

const atLeast = 0.7;

const here = <Server extends AsyncDisposable>(name: string, find: () => Promise<Server>): Broker<Server> => ({
  name,
  howToTry: '',
  find,
});

export const ways: readonly Way<AsyncDisposable>[] = [
  way({
    broker: here('another PostgreSQL database', async () => ({ [Symbol.asyncDispose]: async () => {} })),
    apart: true,
    transport: (_server, _run, service, { connectionString }) =>
      service === 'shop'
        ? postgresTransport()
        : postgresTransport({ databases: { shop: { connectionString, schema: 'shop' } } }),
  }),
  way({
    broker: rabbitmq,
    transport: ({ url }, prefix) => rabbitmqTransport({ url, prefix }),
    atLeast,
    bare: ({ url }, run, loop) => openBareRabbitmq(url, run, loop),
    remove: ({ url }, prefix) => removeFromRabbitmq(url, prefix, ['shop', 'till']),
  }),
  way({
    broker: nats,
    transport: ({ url }, prefix) => natsTransport({ servers: url, prefix }),
    atLeast,
    bare: ({ url }, run, loop) => openBareNats(url, run, loop),
    remove: ({ url }, prefix) => removeFromNats(url, prefix),
  }),
  way({
    broker: here('SQS (stand-in)', async () => {
      const standIn = await startFauxqs({ port: 0, logger: false });
      return { port: standIn.port, [Symbol.asyncDispose]: () => standIn.stop() };
    }),
    transport: ({ port }, run) =>
      sqsTransport({
        region: 'us-east-1',
        endpoint: `http://127.0.0.1:${port}`,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        topic: run.replace('-', '_'),
        waitSeconds: 1,
      }),
  }),
  way({
    broker: here('Azure Service Bus (stand-in)', () => ServiceBusStandIn.start()),
    transport: (standIn) =>
      azureServiceBusTransport({
        connectionString: standIn.connectionString(),
        administrationUrl: standIn.administrationUrl,
      }),
  }),
];
