import { ServiceBusClient } from '@azure/service-bus';
import { expect, it } from 'vitest';
import { ReplaceableClient } from '../../../src/transports/azure-service-bus/replaceable-client.js';
import { startTcpProxy } from '../../coordinator/tcp-proxy.js';
import { ServiceBusStandIn } from '../../support/brokers/service-bus/service-bus.js';
import { eventually } from '../../support/eventually.js';

interface Inside {
  readonly _connectionContext: {
    readonly connection: {
      readonly options: { operationTimeoutInSeconds?: number };
      createSession(...options: unknown[]): Promise<{ close(): Promise<void> }>;
    };
    readonly cbsSession: { close(): Promise<void> };
  };
}

/** A minute, unless it is told otherwise. */
const operationSeconds = 1;

it('a wait for a session over a connection that fell silent leaves no unhandled rejection behind', async () => {
  await using standIn = await ServiceBusStandIn.start();
  standIn.namespace.createTopic('whizbang');
  standIn.namespace.createSubscription('whizbang', 'orders');
  await using network = await startTcpProxy(`amqp://127.0.0.1:${standIn.port}`);
  const { port } = new URL(network.connectionString);
  const opened: unknown[] = [];
  const failed: unknown[] = [];
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);

  const replaceable = new ReplaceableClient(() => {
    const made = new ServiceBusClient(standIn.connectionString('root', undefined, Number(port)), {
      retryOptions: { maxRetries: 0 },
    });
    const { connection } = (made as unknown as Inside)._connectionContext;
    connection.options.operationTimeoutInSeconds = operationSeconds;
    const create = connection.createSession.bind(connection);
    connection.createSession = async (...options) => {
      const session = await create(...options);
      opened.push(session);
      const close = session.close.bind(session);
      session.close = () =>
        close().catch((error: unknown) => {
          failed.push(error);
          throw error;
        });
      return session;
    };
    return made;
  });

  try {
    const accepting = replaceable.current.acceptNextSession('whizbang', 'orders');
    // The first is that of the credentials; over the second the link is asked for.
    await eventually(() => expect(opened).toHaveLength(2));
    network.moveTo(`amqp://127.0.0.1:${standIn.port}`, 'silent');

    await expect(accepting).rejects.toThrow();
    await eventually(() => expect(failed).not.toEqual([]));
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    await replaceable.close();
  }
});

it('a client that is replaced because its connection fell silent leaves no unhandled rejection behind', async () => {
  await using standIn = await ServiceBusStandIn.start();
  standIn.namespace.createTopic('whizbang');
  await using network = await startTcpProxy(`amqp://127.0.0.1:${standIn.port}`);
  const { port } = new URL(network.connectionString);
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  const replaceable = new ReplaceableClient(
    () => new ServiceBusClient(standIn.connectionString('root', undefined, Number(port))),
  );

  try {
    const client = replaceable.current;
    const { connection, cbsSession } = (client as unknown as Inside)._connectionContext;
    // Longer than a replaced client is given to say goodbye.
    connection.options.operationTimeoutInSeconds = 5 * operationSeconds;
    await client.createSender('whizbang').sendMessages({ body: 1 });
    const closing: Promise<void>[] = [];
    const close = cbsSession.close.bind(cbsSession);
    cbsSession.close = () => {
      closing.push(close());
      return closing.at(-1) as Promise<void>;
    };
    network.moveTo(`amqp://127.0.0.1:${standIn.port}`, 'silent');

    replaceable.replace(client);

    await eventually(() => expect(closing).not.toEqual([]));
    await Promise.allSettled(closing);
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    await replaceable.close();
  }
});
