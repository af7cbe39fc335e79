// Where a call spends its time: milliseconds per call in each SQL function, as the server counts them
// (track_functions), for the settings of the questions. No ratio and no bar: it is for people who work on the
// SQL.
//   npx tsx bench/profile.ts [setting]...

import { messageSource } from './messages.js';
import { BenchQueue } from './queue.js';
import { openServer } from './server.js';
import { idsOf, insertPlainly } from './work-batch.js';

const calls = 100;

/** Makes the calls to be profiled. `start` is called when its preparation is over. */
type Setting = (queue: BenchQueue, start: () => Promise<void>) => Promise<void>;

const settings: Readonly<Record<string, Setting>> = {
  'cycle-100': cycles(100, 100),
  'cycle-100-own': cycles(100, 'own'),
  'cycle-500': cycles(500, 100),
  'one-message': cycles(1, 'own'),
  drain: async (queue, start) => {
    await queue.fill(20_000, 'function');
    await start();
    await claimAll(queue);
  },
  'drain-admitted': async (queue, start) => {
    await queue.fill(20_000, 'function');
    await queue.admitAll();
    await start();
    await claimAll(queue);
  },
  'arrivals-behind-retries': async (queue, start) => {
    const nextArrivals = messageSource(await queue.blockStreams(20_000));
    await queue.fill(1_000, 'function');
    await queue.admitAll();
    await start();
    for (let call = 0; call < calls; call++) {
      await insertPlainly(queue.client, nextArrivals(100));
      await queue.claimAndRelease(100);
    }
  },
  idle: async (queue, start) => {
    await queue.instance.call({ take: 100 });
    await start();
    for (let call = 0; call < calls; call++) await queue.instance.call({ take: 100 });
  },
};

function cycles(batchSize: number, streams: number | 'own'): Setting {
  return async ({ instance }, start) => {
    const nextBatch = messageSource(streams);
    let held: string[] = [];
    for (let call = -calls; call < calls; call++) {
      if (call === 0) await start();
      held = idsOf(await instance.call({ complete: held, store: nextBatch(batchSize), take: batchSize }));
    }
  };
}

async function claimAll({ instance }: BenchQueue): Promise<void> {
  let held: string[] = [];
  do held = idsOf(await instance.call({ complete: held, take: 500 }));
  while (held.length > 0);
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(settings);
const server = await openServer();
try {
  for (const name of chosen) {
    const setting = settings[name];
    if (setting === undefined)
      throw new Error(`There is no setting ${name}. Known settings: ${Object.keys(settings).join(', ')}`);
    const queue = await BenchQueue.open(server);
    await queue.client.query(`set track_functions = 'all'`);
    await setting(queue, async () => {
      await queue.client.query('select pg_stat_force_next_flush()');
      await queue.client.query('select pg_stat_reset()');
    });
    await queue.client.query('select pg_stat_force_next_flush()');
    const { rows } = await queue.client.query(
      `with whole as (select calls from pg_stat_user_functions where funcname = 'process_work_batch')
       select f.funcname as function, f.calls::int,
         round((f.self_time / whole.calls)::numeric, 3)::float as "own ms per call",
         round((f.total_time / whole.calls)::numeric, 3)::float as "with callees"
       from pg_stat_user_functions f, whole order by f.self_time desc limit 15`,
    );
    console.log(name);
    console.table(rows);
    await queue.close();
  }
} finally {
  await server.stop();
}
