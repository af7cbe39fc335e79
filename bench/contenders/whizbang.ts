// whizbang: one call completes what the previous call handed out, stores the next batch and returns that
// batch. Always in stream order. A slice ends with a call that completes the last batch.

import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { BenchInstance, idsOf } from '../work-batch.js';
import type { CycleSettings, Runner } from './contender.js';

export async function openWhizbang(
  server: BenchServer,
  { batchSize, streams, historyPercent, prepare }: CycleSettings,
): Promise<Runner> {
  const database = await server.createMigratedDatabase();
  const client = await database.connect();
  if (historyPercent !== undefined) await client.query('select wh_keep_history(7)');
  await prepare?.(client);
  const instance = new BenchInstance(client, historyPercent);
  const nextBatch = messageSource(streams);

  const slice = async (milliseconds: number) => {
    const start = performance.now();
    let held: string[] = [];
    let messages = 0;
    while (performance.now() - start < milliseconds) {
      const items = await instance.call({ complete: held, store: nextBatch(batchSize), take: batchSize });
      messages += held.length;
      held = idsOf(items);
    }
    while (held.length > 0) {
      const items = await instance.call({ complete: held, take: batchSize });
      messages += held.length;
      held = idsOf(items);
    }
    const elapsedMs = performance.now() - start;
    const left = await client.query('select from wh_outbox where processed_at is null limit 1');
    if (left.rowCount !== 0) throw new Error('a slice of whizbang left a message unfinished');
    return { messages, elapsedMs };
  };

  return {
    name: 'whizbang',
    slice,
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}
