// Run as a process of its own by the crash tests: one instance, that may have an accident at a step of its work.
// The steps of a receptor are those that the runner logs; those of publishing are seen at the transport and at the
// connection to PostgreSQL.
import pg from 'pg';
import { createWhizbang, type Logger, postgresTransport } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { Transport } from '../../../src/transport.js';
import { accidentAt } from './accident.js';
import { brokerTransport } from './broker-transport.js';
import { callWith } from './call-with.js';
import type { Plan } from './plan.js';
import { createShop, longLeases, OrderPlaced, PlaceOrder, shortLeases, takeFromStock } from './shop.js';

const plan = JSON.parse(process.argv[2] as string) as Plan;
const pass = accidentAt(plan.accident);

const logger: Logger = {
  ...silentLogger,
  debug: (facts) => {
    const { step, type } = facts as { step?: string; type?: string };
    if (type === (plan.accident?.type ?? 'PlaceOrder') && step !== undefined) pass(step);
  },
};

const watchedCalls = [
  { call: callWith('outboxCompletions'), before: 'reporting', after: 'reported' },
  { call: callWith('newOutboxMessages'), before: 'storing', after: 'stored' },
  { call: callWith('newInboxMessages'), before: 'taking', after: 'taken' },
  { call: callWith('inboxFailures'), before: 'failing', after: 'failed' },
  { call: /\.wh_append\(/, before: 'appending', after: 'appended' },
];

/** Before a call that says what was published or has failed, stores what is sent or what arrived; and after its answer. */
function watchCalls(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (text: string, values?: unknown[]) => Promise<pg.QueryResult>;
    const watched = async (text: string, values?: unknown[]) => {
      const calls = watchedCalls.filter(({ call }) => call.test(text));
      for (const { before } of calls) pass(before);
      const answer = await query(text, values);
      for (const { after } of calls) pass(after);
      return answer;
    };
    client.query = watched as typeof client.query;
  });
}

function watchSending(transport: Transport): Transport {
  return {
    ...transport,
    connect: async (host) => {
      const connection = await transport.connect(host);
      return {
        receive: (subscription, deliver) => connection.receive(subscription, deliver),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
        send: async (messages, signal) => {
          pass('claimed');
          const outcomes = await connection.send(messages, signal);
          pass('sent');
          return outcomes;
        },
      };
    },
  };
}

async function placeOrders({ steps, inTransaction }: NonNullable<Plan['places']>): Promise<void> {
  const orders = Array.from({ length: steps }, (_, i) => PlaceOrder({ orderId: 'order-0', step: i + 1 }));
  if (!inTransaction) {
    await instance.send(orders);
    pass('sent');
    return;
  }
  const tx = await pool.connect();
  await tx.query('begin');
  await instance.send(orders, { tx });
  pass('inserted');
  await tx.query('commit');
  pass('committed');
  tx.release();
}

async function appendEvents({ events, inTransaction }: NonNullable<Plan['appends']>): Promise<void> {
  const made = Array.from({ length: events }, (_, i) => OrderPlaced({ orderId: 'order-0', step: i + 1 }));
  if (!inTransaction) {
    await instance.events.append(made, { expectedVersion: 0 });
    return;
  }
  const tx = await pool.connect();
  await tx.query('begin');
  await instance.events.append(made, { tx, expectedVersion: 0 });
  await tx.query('commit');
  pass('committed');
  tx.release();
}

const pool = new pg.Pool({ connectionString: plan.connectionString, max: 12 });
watchCalls(pool);
const options = {
  pool,
  logger,
  ...(plan.leases === 'long' ? longLeases : shortLeases),
  concurrency: plan.concurrency ?? 4,
  groupSize: plan.groupSize,
  transport: watchSending(
    plan.brokerPort === undefined ? postgresTransport() : brokerTransport(plan.brokerPort, pass),
  ),
};
const instance =
  plan.role === 'till'
    ? createWhizbang({ ...options, service: 'till' })
    : createShop(options, { ...plan, work: plan.takesFromStock ? takeFromStock : undefined });

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
process.on('SIGTERM', () => {
  void instance
    .stop()
    .then(() => pool.end())
    .then(() => process.exit(0));
});
// Who only sends need not start, and may not: the schema is the shop's.
if (plan.places === undefined && plan.appends === undefined) await instance.start();
process.send?.('started');
if (plan.places !== undefined) {
  await placeOrders(plan.places);
  process.send?.('placed');
}
if (plan.appends !== undefined) await appendEvents(plan.appends);
