import { afterAll, beforeAll } from 'vitest';
import { withBroker } from '../support/brokers/broker.js';
import { nats } from '../support/brokers/nats.js';
import type { TestDatabase } from '../support/database.js';
import { describeTransport } from './conformance.js';
import { natsSubject } from './nats-services.js';
import { createServices } from './postgres-services.js';

/** Not too short: the cases that run side by side share one thread. */
const leaseSeconds = 3;

let db: TestDatabase;
beforeAll(async () => {
  db = await createServices();
});
afterAll(() => db.drop());

await withBroker(nats, (server) => {
  describeTransport('nats', () => natsSubject(server, db, { leaseSeconds }), {}, 'side by side');
  describeTransport(
    'nats in four shards',
    () => natsSubject(server, db, { leaseSeconds, shards: 4 }),
    {},
    'side by side',
  );
});
