// Services joined by a stand-in for Azure Service Bus, each instance over a network of its own that can fail.
// In: options of the transport. Out: subjects for the conformance suite and for the tests beside this file.

import { randomUUID } from 'node:crypto';
import rhea from 'rhea';
import { expect } from 'vitest';
import {
  type AzureServiceBusTransportOptions,
  azureServiceBusTransport,
} from '../../../src/azure-service-bus.js';
import { type Logger, silentLogger } from '../../../src/logger.js';
import type { TransportHost, TransportState } from '../../../src/transports/index.js';
import { startTcpProxy, type TcpProxy } from '../../coordinator/tcp-proxy.js';
import { ServiceBusStandIn } from '../../support/brokers/service-bus/service-bus.js';
import { eventually } from '../../support/eventually.js';
import type { Lacking, SubjectInstance, TransportSubject } from '../subject.js';

interface AzureInstance extends SubjectInstance {
  readonly states: readonly TransportState[];
  readonly network: TcpProxy;
  /**
   * Its connections stay open, and no byte passes any more, as when a machine in between vanishes. New ones get nowhere, or
   * `others` work.
   */
  fallSilent(others?: 'others work'): void;
}

export interface AzureSubject extends TransportSubject {
  readonly standIn: ServiceBusStandIn;
  join(service: string): Promise<AzureInstance>;
}

export const azureLacks: Lacking = {
  sizeLimit: 'the topic tells its limit when the connection is open; wire.test.ts tries it',
};

/** It looks at none of this but the service's name and the logger. */
export const hostOf = (
  serviceName: string,
  states: TransportState[] = [],
  logger: Logger = silentLogger,
): TransportHost => ({
  instance: { instanceId: randomUUID(), serviceName, hostName: 'host-1', processId: 1 },
  pool: { connect: () => Promise.reject(new Error('It needs no database.')) },
  schema: 'whizbang',
  logger,
  onState: (state) => void states.push(state),
});

/** A transport over a stand-in of its own. */
export async function azureSubject(
  options: Partial<AzureServiceBusTransportOptions> = {},
): Promise<AzureSubject> {
  const standIn = await ServiceBusStandIn.start();
  const { lockSeconds = 4 } = options;
  const proxies = new Set<TcpProxy>();
  const transportAt = (port: number) =>
    azureServiceBusTransport({
      connectionString: standIn.connectionString('root', undefined, port),
      administrationUrl: standIn.administrationUrl,
      lockSeconds,
      ...options,
    });
  return {
    standIn,
    traits: transportAt(standIn.port).traits,
    locksMs: lockSeconds * 1_000,
    join: async (service) => {
      const proxy = await startTcpProxy(`amqp://127.0.0.1:${standIn.port}`);
      proxies.add(proxy);
      const states: TransportState[] = [];
      const { port } = new URL(proxy.connectionString);
      const connection = await transportAt(Number(port)).connect(hostOf(service, states));
      const crash = async () => {
        proxies.delete(proxy);
        await proxy[Symbol.asyncDispose]();
      };
      const fallSilent = (others?: 'others work') =>
        proxy.moveTo(`amqp://127.0.0.1:${others === undefined ? 1 : standIn.port}`, 'silent');
      return { connection, states, network: proxy, crash, fallSilent };
    },
    goAway: () => standIn.goAway(),
    comeBack: () => standIn.comeBack(),
    loseAnswerTo: async (send) => {
      standIn.losesAnswers = true;
      const stored = standIn.published;
      const sending = expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await eventually(() => expect(standIn.published).toBeGreaterThan(stored));
      standIn.cutConnections();
      await sending;
      standIn.losesAnswers = false;
    },
    // A batch is taken or lost as a whole, so these are made small.
    dropMiddleOf: async (send) => {
      const { maxMessageBytes } = standIn;
      standIn.maxMessageBytes = 2_000;
      standIn.transfersUntilLoss = 2;
      await send();
      expect(standIn.transfersUntilLoss).toBeLessThan(0);
      standIn.maxMessageBytes = maxMessageBytes;
    },
    refused: (each) => ({ ...each, payload: 1n }),
    sendUnreadable: async (address, bytes) =>
      standIn.publish([{ body: dataOf(bytes), to: address, group_id: 'shard-0' }]),
    sendForeign: async (address, { mode, attributes, data }) => {
      const to = { to: address, group_id: 'shard-0' };
      const { datacontenttype, ...others } = attributes;
      const properties = Object.entries(others).map(([name, value]) => [`cloudEvents:${name}`, value]);
      standIn.publish([
        mode === 'structured'
          ? {
              ...to,
              content_type: 'application/cloudevents+json',
              body: dataOf(Buffer.from(JSON.stringify({ ...attributes, data }))),
            }
          : {
              ...to,
              content_type: datacontenttype as string,
              application_properties: Object.fromEntries(properties),
              body: dataOf(Buffer.from(JSON.stringify(data))),
            },
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...proxies].map((proxy) => proxy[Symbol.asyncDispose]()));
      await standIn[Symbol.asyncDispose]();
    },
  };
}

export const dataOf = (bytes: Uint8Array) => rhea.message.data_section(Buffer.from(bytes));
