// Services joined by a real RabbitMQ, each instance over a network of its own that can fail.
// In: the broker's URL. Out: subjects for the conformance suite.
// Each has names of its own: on RabbitMQ 3.10, a queue that is deleted and declared again at once may lose a member.

import { randomUUID } from 'node:crypto';
import { type ConfirmChannel, connect, type Options } from 'amqplib';
import { expect } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/rabbitmq.js';
import {
  addressName,
  structuredContentType,
  type TransportHost,
  type TransportState,
  type TransportTraits,
} from '../../src/transports/index.js';
import { startTcpProxy, type TcpProxy } from '../coordinator/tcp-proxy.js';
import { removeFromRabbitmq } from '../support/brokers/rabbitmq.js';
import type { ForeignCloudEvent, SubjectInstance, TransportSubject } from './subject.js';

export interface RabbitmqInstance extends SubjectInstance {
  readonly states: readonly TransportState[];
  readonly proxy: TcpProxy;
}

export interface RabbitmqSubject extends TransportSubject {
  readonly prefix: string;
  readonly traits: TransportTraits;
  /** Straight to the broker, for what other programs do. */
  readonly foreign: ConfirmChannel;
  /** Like `join`, with other options. */
  joinWith(service: string, options?: Partial<RabbitmqTransportOptions>): Promise<RabbitmqInstance>;
  /** What another program publishes as an event, confirmed. */
  publish(routingKey: string, content: Uint8Array, options?: Options.Publish): Promise<void>;
}

/** Short, because a broker that is not told of an end notices it only after two or three heartbeats. */
const heartbeatSeconds = 2;

export async function rabbitmqSubject(
  url: string,
  given: Partial<RabbitmqTransportOptions> = {},
): Promise<RabbitmqSubject> {
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const options = { url, prefix, heartbeatSeconds, ...given };
  const model = await connect(url);
  model.on('error', () => {}); // a test may kill the broker
  const foreign = await model.createConfirmChannel();
  const proxies = new Set<TcpProxy>();
  const services = new Set<string>();
  let isAway = false;
  const subject: RabbitmqSubject = {
    prefix,
    foreign,
    traits: rabbitmqTransport(options).traits,
    join: (service) => subject.joinWith(service),
    joinWith: async (service, others = {}) => {
      const proxy = await startTcpProxy(url);
      proxies.add(proxy);
      if (isAway) proxy.hangUpOn = Number.POSITIVE_INFINITY;
      services.add(service);
      const transport = rabbitmqTransport({ ...options, url: proxy.connectionString, ...others });
      const states: TransportState[] = [];
      const connection = await transport.connect(hostOf(service, states));
      const crash = async () => {
        proxies.delete(proxy);
        await proxy[Symbol.asyncDispose]();
      };
      return { connection, states, proxy, crash };
    },
    goAway: async () => {
      isAway = true;
      for (const proxy of proxies) {
        proxy.hangUpOn = Number.POSITIVE_INFINITY;
        proxy.cut();
      }
    },
    comeBack: async () => {
      isAway = false;
      for (const proxy of proxies) proxy.hangUpOn = 0;
    },
    loseAnswerTo: async (send) => {
      for (const proxy of proxies) proxy.loseAnswers = Number.POSITIVE_INFINITY;
      await expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      for (const proxy of proxies) proxy.loseAnswers = 0;
    },
    // A command that no queue takes is returned by the broker.
    refused: (message) => ({ ...message, address: 'nobody', metadata: { kind: 'command' } }),
    sendUnreadable: (address, bytes) => subject.publish(routingKeyOf(address), bytes),
    sendForeign: (address, event) => subject.publish(routingKeyOf(address), ...asAmqp(event)),
    publish: (routingKey, content, properties) =>
      new Promise((resolve, reject) => {
        foreign.publish(`${prefix}.events`, routingKey, Buffer.from(content), properties, (error) =>
          error ? reject(error) : resolve(),
        );
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...proxies].map((proxy) => proxy[Symbol.asyncDispose]()));
      await model.close().catch(() => {});
      await removeFromRabbitmq(url, prefix, [...services], options.shards);
    },
  };
  return subject;
}

export function hostOf(service: string, states: TransportState[] = []): TransportHost {
  return {
    instance: { instanceId: randomUUID(), serviceName: service, hostName: 'host-1', processId: 1 },
    onState: (state) => void states.push(state),
    logger: silentLogger,
    schema: 'whizbang',
    pool: undefined as never,
  };
}

/** As the page of the transport tells other programs to. */
const routingKeyOf = (address: string) => `${addressName(address, { max: 200 })}.7`;

function asAmqp({ mode, attributes, data }: ForeignCloudEvent): [Buffer, Options.Publish] {
  if (mode === 'structured')
    return [Buffer.from(JSON.stringify({ ...attributes, data })), { contentType: structuredContentType }];
  const { datacontenttype, ...others } = attributes;
  const headers = Object.entries(others).map(([name, value]) => [`cloudEvents:${name}`, value]);
  return [
    Buffer.from(JSON.stringify(data)),
    { contentType: datacontenttype ?? 'application/json', headers: Object.fromEntries(headers) },
  ];
}
