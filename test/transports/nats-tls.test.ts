import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { type NatsTransportOptions, natsTransport } from '../../src/nats.js';
import type { Delivery } from '../../src/transports/index.js';
import { makeCertificate } from '../support/brokers/certificate.js';
import { natsIsInstalled, startNatsServer } from '../support/brokers/nats-server.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { createServices } from './postgres-services.js';
import { ids, never, stream } from './world.js';

describe.runIf(natsIsInstalled)('NATS: TLS', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createServices();
  });
  afterAll(() => db.drop());

  const startServer = async (host?: string) => {
    const made = await makeCertificate(host);
    const { certificateFile, keyFile } = made;
    const config = `tls { cert_file: "${certificateFile}", key_file: "${keyFile}" }`;
    return { ...made, server: await startNatsServer({ config }) };
  };
  const open = (port: number, options: Omit<NatsTransportOptions, 'servers'>) =>
    natsTransport({ servers: `tls://localhost:${port}`, ...options }).connect({
      instance: { instanceId: randomUUID(), serviceName: 'orders', hostName: 'host-1', processId: 1 },
      pool: db.pool,
      schema: 'orders',
      logger: silentLogger,
      onState: () => {},
    });

  it('a connection to NATS with the certificate of an authority of its own sends and receives', async () => {
    const { server: started, certificate, certificateFile } = await startServer();
    await using server = started;
    for (const tls of [{ ca: certificate }, { caFile: certificateFile }]) {
      const connection = await open(server.port, { tls, prefix: `t${randomUUID().slice(0, 8)}` });
      const received: Delivery[] = [];
      await connection.receive({ addresses: ['orders'], prefetch: 10 }, (delivery) => {
        received.push(delivery);
        void delivery.acknowledge();
      });
      const messages = stream('orders', 3);

      const outcomes = await connection.send(messages, never);

      expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'sent', 'sent']);
      await eventually(() =>
        expect(ids(received.map(({ content }) => content as never))).toEqual(ids(messages)),
      );
      await connection.close();
    }
  });

  it('a certificate of NATS that nobody has signed, or of another host, is refused by the option tls', async () => {
    for (const host of ['localhost', 'elsewhere.test']) {
      const { server: started, certificate } = await startServer(host);
      await using server = started;
      const options = host === 'localhost' ? {} : { tls: { ca: certificate } };
      await expect(open(server.port, options)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'tls' },
      });
    }
  });
});
