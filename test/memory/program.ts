// Run as a process of its own, with --expose-gc: one instance takes messages through outbox, transport, inbox and
// receptor, and tells after each part what is alive once everything that can be collected was.
import pg from 'pg';
import { z } from 'zod';
import { createWhizbang, defineEvent, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { Plan } from './plan.js';

const { connectionString, parts } = JSON.parse(process.argv[2] as string) as Plan;
const batchSize = 250;
const mostUnderWay = 1_000;

const Happened = defineEvent('Happened', {
  schema: z.object({ number: z.number(), note: z.string() }),
  stream: ({ number }) => `s${number % 3 === 0 ? number : number % 100}`, // some end at once, some go on
});
let handled = 0;
let onHandled = () => {};
const onHappened = receptor(Happened, { transaction: false }, () => {
  handled++;
  onHandled();
});
const client = new pg.Client({ connectionString });
await client.connect();
const service = createWhizbang({
  service: 'memory',
  connectionString,
  logger: silentLogger,
  receptors: [onHappened],
});
await service.start();

let published = 0;
for (const part of parts) {
  const goal = published + part;
  while (published < goal) {
    const numbers = Array.from({ length: Math.min(batchSize, goal - published) }, (_, i) => published + i);
    await service.publish(numbers.map((number) => Happened({ number, note: `${number} `.repeat(20) })));
    published += numbers.length;
    await untilHandled(published - mostUnderWay);
  }
  await untilHandled(goal);
  await untilCompleted();
  process.send?.({ handled, live: await liveBytes() });
}
await service.stop();
await client.end();
process.disconnect();

async function untilHandled(count: number): Promise<void> {
  while (handled < count) {
    await new Promise<void>((resolve) => {
      onHandled = resolve;
    });
  }
}

async function untilCompleted(): Promise<void> {
  while (
    (await client.query('select from wh_inbox union all select from wh_outbox limit 1')).rowCount !== 0
  ) {}
}

async function liveBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  // Twice, with a turn of the event loop between: finalizers release more.
  for (let i = 0; i < 2; i++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
