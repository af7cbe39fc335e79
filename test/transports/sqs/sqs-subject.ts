import { randomUUID } from 'node:crypto';
import { SNS } from '@aws-sdk/client-sns';
import { startFauxqs } from 'fauxqs';
import { expect } from 'vitest';
import { silentLogger } from '../../../src/logger.js';
import { type SqsTransportOptions, sqsTransport } from '../../../src/sqs.js';
import type { Transport, TransportHost, TransportState } from '../../../src/transports/index.js';
import { toWire } from '../../../src/transports/sqs/wire.js';
import type { TransportSubject } from '../subject.js';
import { type AwsNetwork, failingEntries, startAwsNetwork } from './aws-network.js';

/** Not too short: the cases that run side by side share one thread. */
export const visibilitySeconds = 4;
export const region = 'eu-central-1';
export const credentials = { accessKeyId: 'KEY', secretAccessKey: 'stand-in secret' };

/** The stand-in for AWS, with all queues of this file. */
export const standIn = await startFauxqs({ port: 0, logger: false, defaultRegion: region });
export const standInUrl = `http://127.0.0.1:${standIn.port}`;

/** It looks at none of this but the service's name. */
export const host = (serviceName: string, states: TransportState[] = []): TransportHost => ({
  instance: { instanceId: randomUUID(), serviceName, hostName: 'host-1', processId: 1 },
  pool: { connect: () => Promise.reject(new Error('It needs no database.')) },
  schema: 'whizbang',
  logger: silentLogger,
  onState: (state) => states.push(state),
});

/** A topic that no other test has. */
export const freshTopic = () => `t${randomUUID().replaceAll('-', '_')}`;

export const transportAt = (url: string, options: SqsTransportOptions = {}): Transport =>
  sqsTransport({ region, endpoint: url, credentials, visibilitySeconds, waitSeconds: 1, ...options });

export const sns = new SNS({ region, endpoint: standInUrl, credentials });

/** Publishes as a foreign program does. */
export async function publishForeign(topic: string, address: string, body: string): Promise<void> {
  await sns.publish({
    TopicArn: arnOf(topic),
    Message: body,
    MessageGroupId: 'foreign',
    MessageDeduplicationId: randomUUID(),
    MessageAttributes: { address: { DataType: 'String', StringValue: address } },
  });
}

export const arnOf = (topic: string) => `arn:aws:sns:${region}:000000000000:${topic}.fifo`;

/** Starts `orders` once, with these options, and stops it. */
export async function start(
  options: SqsTransportOptions,
  addresses = ['orders'],
  url = standInUrl,
): Promise<void> {
  const connection = await transportAt(url, options).connect(host('orders'));
  try {
    await connection.receive({ addresses, prefetch: 1 }, () => {});
  } finally {
    await connection.close();
  }
}

interface SqsSubject extends TransportSubject {
  readonly topic: string;
  readonly networks: readonly AwsNetwork[];
}

/** Each instance reaches the stand-in by a network of its own. */
export async function makeSqsSubject(): Promise<SqsSubject> {
  const topic = freshTopic();
  const networks: AwsNetwork[] = [];
  let isAway = false;
  const each = (act: (network: AwsNetwork) => void) => {
    for (const network of networks) act(network);
  };
  const goAway = () => {
    isAway = true;
    each((network) => {
      network.isAway = true;
      network.cut();
    });
  };
  const { traits } = transportAt(standInUrl);
  return {
    topic,
    networks,
    traits,
    locksMs: visibilitySeconds * 1_000,
    atOnceOfStream: 1,
    join: async (service) => {
      const network = await startAwsNetwork(standInUrl);
      network.isAway = isAway;
      networks.push(network);
      const states: TransportState[] = [];
      return {
        connection: await transportAt(network.url, { topic }).connect(host(service, states)),
        states,
        crash: async () => network[Symbol.asyncDispose](),
      };
    },
    goAway: async () => goAway(),
    comeBack: async () => {
      isAway = false;
      each((network) => {
        network.isAway = false;
      });
    },
    loseAnswerTo: async (send) => {
      each((network) => {
        network.losesAnswers = true;
      });
      await expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      each((network) => {
        network.losesAnswers = false;
      });
    },
    dropMiddleOf: async (send) => {
      let seen = 0;
      each((network) => {
        network.intercept = failingEntries(() => ++seen === 8, false);
      });
      await send();
      each((network) => {
        network.intercept = undefined;
      });
    },
    refused: (message) => ({ ...message, payload: 1n }),
    sizeOf: (message) => toWire(message, Number.MAX_SAFE_INTEGER).bytes,
    sendForeign: (address, { attributes, data }) =>
      publishForeign(topic, address, JSON.stringify({ ...attributes, data })),
    sendUnreadable: (address, bytes) => publishForeign(topic, address, Buffer.from(bytes).toString('utf8')),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(networks.filter(({ isAway }) => !isAway).map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
