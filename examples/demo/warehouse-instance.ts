// One instance of the warehouse, in a process of its own: started by warehouse.ts, with which it communicates
// over IPC. It handles steps of orders, some of which fail. After a stall it continues unaware: it never
// looks at ctx.signal, so that only the database can refuse what it does too late.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createWhizbang, FinalError, type Logger, receptor } from '../../src/index.js';
import { failuresOf, hopelessAfter, OrderMoved, OrderShipped } from './messages.js';
import { type FromInstance, type InstanceSettings, willSucceed } from './warehouse.js';
import { world } from './world.js';

const settings = JSON.parse(process.env.WHIZBANG_DEMO_INSTANCE as string) as InstanceSettings;
const { name, instanceId, connectionString, seed, leaseSeconds } = settings;
const tell = (message: FromInstance) => process.connected && process.send?.(message);
// The parent process is gone, for whatever reason, so this process is no longer needed.
process.on('disconnect', () => process.exit(1));
// Ctrl-C goes to the whole process group. The parent decides when to stop.
process.on('SIGINT', () => undefined);

// Left out: the hint. In the demo, the user only watches.
const warn = (facts: object, message: string) =>
  void tell({ kind: 'warning', text: `${message} ${JSON.stringify({ ...facts, hint: undefined })}` });
const logger: Logger = { debug: () => undefined, info: () => undefined, warn, error: warn };
const url = new URL(connectionString);
url.searchParams.set('application_name', name);
/** A pool for writes outside the receptors' transactions. */
const notes = new pg.Pool({ connectionString, max: 1 });
notes.on('error', () => undefined);

const onMoved = receptor(
  OrderMoved,
  // More attempts than the steps fail on purpose: an instance that dies has used one too.
  { retry: { attempts: 10, firstDelaySeconds: 0.1, maxDelaySeconds: 0.5 } },
  async ({ orderId, step, isLast }, ctx) => {
    const startedAt = performance.now();
    const { attempt } = ctx;
    const { messageId, streamId } = ctx.envelope;
    const failures = failuresOf(seed, orderId, step);
    const fails = attempt <= failures;
    const { rows } = await ctx.tx.query(
      `insert into ${world.warehouse}.effects (message_id, stream_id, step, instance, attempt)
       values ($1, $2, $3, $4, $5) returning n ${fails ? '' : willSucceed}`,
      [messageId, streamId, step, name, attempt],
    );
    await wait(2 + Math.random() * 10);
    // Its effect is already written: the transaction has to roll it back.
    if (fails) {
      const isHopeless = failures === Number.POSITIVE_INFINITY && attempt >= hopelessAfter;
      throw new (isHopeless ? FinalError : Error)(`step ${step} of ${orderId} fails`);
    }
    if (isLast) await ctx.publish(OrderShipped({ orderId }));
    if (performance.now() - startedAt > leaseSeconds * 1000) {
      const [{ n }] = rows as [{ n: string }];
      await notes.query(`insert into ${world.warehouse}.late values ($1, $2, $3)`, [n, messageId, name]);
    }
  },
);

const warehouse = createWhizbang({
  service: 'warehouse',
  schema: world.warehouse,
  connectionString: url.href,
  instanceId,
  logger,
  receptors: [onMoved],
  concurrency: 6,
  leaseSeconds,
  renewSeconds: leaseSeconds / 4,
  takeoverSeconds: 1,
  staleThresholdSeconds: leaseSeconds * 2,
});
warehouse.on('failure', () => tell({ kind: 'retry' }));
warehouse.on('deadLetter', () => {}); // counted in the database; without a listener each would be logged
warehouse.on('leaseLost', (lost) => tell({ kind: 'lost', count: lost.length }));

process.on('message', (message) => {
  if (message === 'stop') void stop();
});

async function stop(): Promise<void> {
  await warehouse.stop({ seconds: 5 });
  await notes.end();
  process.disconnect();
}

await warehouse.start();
tell({ kind: 'ready' });
