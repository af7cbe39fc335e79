// `npm run demo`: the life of some messages, told while it happens, and judged at the end from the database.
// Runs on the embedded PostgreSQL, or on DATABASE_URL, where it uses a schema of its own and removes it again.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/embedded/index.js';
import {
  MessageProcessingStatus,
  migrate,
  newMessageId,
  type WorkBatch,
  WorkBatchFlags,
  WorkCoordinator,
  type WorkItem,
} from '../src/index.js';
import { judge } from './verdict.js';

const schema = 'whizbang_demo';
const orders = ['order A', 'order B', 'order C'].map((name) => ({ name, streamId: newMessageId() }));
const say = (line = '') => console.log(line);

async function story(pool: pg.Pool): Promise<boolean> {
  await pool.query(`drop schema if exists ${schema} cascade`);
  const report = await migrate({ pool, schema });
  await pool.query(`create table ${schema}.deliveries (n int generated always as identity, message_id uuid,
                      stream_id uuid, step int, by_instance text)`);
  say(`Schema ${report.schema} is migrated to whizbang ${report.toVersion}.`);

  const open = (serviceName: string) =>
    new WorkCoordinator({ pool, schema, leaseSeconds: 1, takeoverSeconds: 0.2, instance: { serviceName } });
  const [alice, bob] = [open('alice'), open('bob')];
  await bob.processWorkBatch();

  say(
    '\n1. alice stores three steps for each of three orders. What she stores into a quiet stream is hers at once.',
  );
  const stored = await alice.processWorkBatch({
    newOutboxMessages: [1, 2, 3].flatMap((step) => orders.map((order) => message(order, step))),
  });
  tell('alice', stored);

  say(
    '\n2. A program of any kind sends with a plain insert in its own transaction. One commits, one does not.',
  );
  await pool.query(
    `insert into ${schema}.wh_outbox (message_id, destination, event_type, event_data, stream_id)
                    values ($1, 'shop', 'OrderPaidEvent', $2, $3)`,
    [newMessageId(), JSON.stringify({ order: 'order A', step: 4 }), orders[0]?.streamId],
  );
  const client = await pool.connect();
  await client.query('begin');
  await client.query(
    `insert into ${schema}.wh_outbox (message_id, destination, event_type, event_data)
                      values ($1, 'shop', 'NeverHappenedEvent', '{"order": "none", "step": 0}')`,
    [newMessageId()],
  );
  await client.query('rollback');
  client.release();
  say('   Step 4 of order A waits behind steps 1 to 3, which alice holds:');
  tell('bob', await bob.processWorkBatch());

  say(
    '\n3. alice delivers the first step of each order, reports it, and crashes with the rest in her hands.',
  );
  const first = stored.outbox.slice(0, orders.length);
  await deliver(pool, 'alice', first);
  await alice.processWorkBatch({ outboxCompletions: published(first), maxOutboxItems: 0 });
  const crashedAt = Date.now();

  say(
    '\n4. bob asks again and again. He gets nothing until the lease of one second has run out, then all of it.',
  );
  let taken = await bob.processWorkBatch({ leaseSeconds: 60 });
  while (taken.outbox.length === 0) {
    await wait(50);
    taken = await bob.processWorkBatch({ leaseSeconds: 60 });
  }
  say(`   ${Date.now() - crashedAt} ms after the crash:`);
  while (taken.outbox.length > 0) {
    tell('bob', taken);
    await deliver(pool, 'bob', taken.outbox);
    taken = await bob.processWorkBatch({ outboxCompletions: published(taken.outbox), leaseSeconds: 60 });
  }

  say(
    '\n5. alice was only asleep. She reports the second steps as done, and is told that they are no longer hers.',
  );
  const late = stored.outbox.slice(orders.length, 2 * orders.length);
  const refused = await alice.processWorkBatch({ outboxCompletions: published(late), maxOutboxItems: 0 });
  say(`   alice reported ${late.length}, lost ${refused.leaseLost.length}`);
  await Promise.all([alice.deregister(), bob.deregister()]);

  say('\nVerdict, from the database:');
  const verdicts = await judge(pool, schema, refused.leaseLost.length === late.length);
  for (const { holds, claim, found } of verdicts) say(`   ${holds ? 'yes' : 'NO '}  ${claim} (${found})`);
  return verdicts.every(({ holds }) => holds);
}

function message(order: (typeof orders)[number], step: number) {
  return {
    messageId: newMessageId(),
    destination: 'shop',
    eventType: 'OrderMovedEvent',
    eventData: { order: order.name, step },
    streamId: order.streamId,
    isEvent: true,
  };
}

/** Stands for the broker: what has been sent where can be looked up afterwards. */
async function deliver(pool: pg.Pool, by: string, items: readonly WorkItem[]): Promise<void> {
  for (const { messageId, streamId, eventData } of items) {
    const { step } = eventData as { step: number };
    await pool.query(
      `insert into ${schema}.deliveries (message_id, stream_id, step, by_instance) values ($1, $2, $3, $4)`,
      [messageId, streamId, step, by],
    );
  }
}

const published = (items: readonly WorkItem[]) =>
  items.map(({ messageId }) => ({ messageId, status: MessageProcessingStatus.Published }));

function tell(who: string, batch: WorkBatch): void {
  const described = batch.outbox.map(({ eventData, flags }) => {
    const { order, step } = eventData as { order: string; step: number };
    return `${order} step ${step}${(flags & WorkBatchFlags.Orphaned) !== 0 ? ' (orphaned)' : ''}`;
  });
  say(`   ${who} gets ${described.length === 0 ? 'nothing' : described.join(', ')}`);
}

const url = process.env.DATABASE_URL;
const embedded = url ? undefined : await startEmbeddedPostgres();
const pool = new pg.Pool({ connectionString: url || embedded?.connectionString });
try {
  say(
    embedded
      ? `An embedded PostgreSQL ${embedded.version} runs on port ${embedded.port}.`
      : 'Using DATABASE_URL.',
  );
  const holds = await story(pool);
  say(holds ? '\nEverything is as promised.' : '\nSomething is off.');
  process.exitCode = holds ? 0 : 1;
  await pool.query(`drop schema ${schema} cascade`);
} finally {
  await pool.end();
  await embedded?.stop();
}
