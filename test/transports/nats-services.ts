// Services over one NATS server, each instance with a network of its own that can fail, each trial in a stream of its own.
// In: a server, a database with the schemas of the services. Out: subjects for the conformance suite.

import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { expect } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { silentLogger } from '../../src/logger.js';
import type { NatsTransportOptions } from '../../src/nats.js';
import { natsTransport } from '../../src/nats.js';
import type { TransportHost, TransportState } from '../../src/transports/index.js';
import { NatsNames } from '../../src/transports/nats/names.js';
import { sizeOf, toNats } from '../../src/transports/nats/nats-wire.js';
import { startTcpProxy, type TcpProxy } from '../coordinator/tcp-proxy.js';
import { connectTo, type NatsServer } from '../support/brokers/nats.js';
import type { TestDatabase } from '../support/database.js';
import { startLossyNetwork } from './lossy-nats.js';
import type { SubjectInstance, TransportSubject } from './subject.js';

interface NatsInstance extends SubjectInstance {
  readonly network: TcpProxy;
  readonly states: TransportState[];
  /** Its database is away, or there again. */
  setDatabase(isThere: boolean): void;
  /** It dies without a word: neither NATS nor its database hears from it again. */
  crash(): Promise<void>;
}

export interface NatsSubject extends TransportSubject {
  readonly prefix: string;
  /** A client beside the transport. */
  readonly nc: NatsConnection;
  joinWith(service: string, options?: Partial<NatsTransportOptions>): Promise<NatsInstance>;
}

export async function natsSubject(
  server: NatsServer,
  db: TestDatabase,
  options: Partial<NatsTransportOptions> = {},
): Promise<NatsSubject> {
  const { leaseSeconds = 2 } = options;
  const prefix = options.prefix ?? `t${randomUUID().replaceAll('-', '')}`;
  const networks: TcpProxy[] = [];
  const nc = await connectTo(server.url);
  const lossy = await startLossyNetwork(server.url);
  const publish = async (address: string, bytes: Uint8Array, headers?: MsgHdrs) => {
    const subject = new NatsNames(prefix, 1).message(address, 0);
    await jetstream(nc).publish(subject, bytes, headers && { headers });
  };
  let isAway = false;
  const subject: NatsSubject = {
    prefix,
    nc,
    traits: {
      ...natsTransport({ servers: server.url, ...options }).traits,
      maxMessageBytes: nc.info?.max_payload,
    },
    sizeOf: (message) => sizeOf(toNats(message)),
    locksMs: leaseSeconds * 1_000,
    joinWith: async (service, more) => {
      const network = await startTcpProxy(lossy.url);
      if (isAway) network.hangUpOn = Number.POSITIVE_INFINITY;
      networks.push(network);
      const servers = network.connectionString;
      return joinAs(db, service, network, { servers, prefix, leaseSeconds, ...options, ...more });
    },
    join: (service) => subject.joinWith(service),
    goAway: async () => {
      isAway = true;
      for (const network of networks) cutOff(network);
    },
    comeBack: async () => {
      isAway = false;
      for (const network of networks) network.hangUpOn = 0;
    },
    loseAnswerTo: async (send) => {
      for (const network of networks) network.loseAnswers = 1;
      await expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      for (const network of networks) network.loseAnswers = 0;
    },
    refused: (message) => ({ ...message, payload: 1n }),
    dropMiddleOf: async (send) => {
      lossy.lose(10, `${prefix}.orders.`);
      await send();
      expect(lossy.lost).toBe(1);
    },
    sendUnreadable: (address, bytes) => publish(address, bytes),
    sendForeign: async (address, { mode, attributes, data }) => {
      const given = headers();
      if (mode === 'binary') {
        for (const [name, value] of Object.entries(attributes)) given.set(`ce-${name}`, encodeURI(value));
      } else given.set('Content-Type', 'application/cloudevents+json; charset=utf-8');
      const body = mode === 'binary' ? data : { ...attributes, data };
      await publish(address, Buffer.from(JSON.stringify(body)), given);
    },
    [Symbol.asyncDispose]: async () => {
      // The server may have been killed by the test, with all that is in it.
      await jetstreamManager(nc)
        .then(({ streams }) => streams.delete(prefix))
        .catch(() => {});
      await nc.close();
      for (const network of [...networks, lossy]) await network[Symbol.asyncDispose]();
    },
  };
  return subject;
}

function cutOff(network: TcpProxy): void {
  network.hangUpOn = Number.POSITIVE_INFINITY;
  network.cut();
}

async function joinAs(
  db: TestDatabase,
  service: string,
  network: TcpProxy,
  options: NatsTransportOptions,
): Promise<NatsInstance> {
  const states: TransportState[] = [];
  let hasDatabase = true;
  const pool: ConnectionPool = {
    connect: async () => {
      if (!hasDatabase) throw Object.assign(new Error('It is away.'), { code: 'ECONNREFUSED' });
      return db.pool.connect();
    },
  };
  const host: TransportHost = {
    instance: { instanceId: randomUUID(), serviceName: service, hostName: 'host-1', processId: 1 },
    pool,
    schema: ['shop', 'billing'].includes(service) ? service : 'orders',
    logger: silentLogger,
    onState: (state) => void states.push(state),
  };
  const setDatabase = (isThere: boolean) => {
    hasDatabase = isThere;
  };
  return {
    connection: await natsTransport(options).connect(host),
    network,
    states,
    setDatabase,
    crash: async () => {
      setDatabase(false);
      cutOff(network);
    },
  };
}
