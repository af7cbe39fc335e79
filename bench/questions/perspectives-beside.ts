// What should not cost a perspective anything, and what should help it: perspectives that have caught up, a transaction that
// stays open beside it, an old snapshot, a second instance.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { registerPerspective } from '../../src/coordinator/index.js';
import { PerspectiveMaker } from '../contenders/perspectives.js';
import { SteadyEvents, secondsWithInstances } from '../contenders/slow-perspectives.js';
import { BenchEventStore } from '../event-store.js';
import { costRatio, describeCost, takeTurns, timed } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { median, quantile } from '../measure/statistics.js';
import type { BenchContext, Finding, Question } from '../question.js';

export const perspectivesBeside: Question = {
  name: 'perspectives-beside',
  asks: 'perspectives that have caught up, beside an open writer, beside an old snapshot, and with a second instance',
  async run(context) {
    return [
      ...(await caughtUp(context)),
      await besideWriter(context),
      await besideSnapshot(context),
      await secondInstance(context),
    ];
  },
};

const names = ['one', 'two', 'three', 'four', 'five'];
const call = `select * from process_work_batch($1, 'bench', 'host', 1, p_perspectives => $2::text[])`;

/** Five perspectives that have read everything. */
async function registerAll(client: pg.Client, instanceId: string): Promise<void> {
  for (const name of names) {
    const facts = {
      version: 1,
      kind: 'keyed',
      is_inline: false,
      fingerprint: 'one',
      columns: {},
      indexes: [],
    };
    const event_types = ['Common0', 'Common1'];
    await registerPerspective(client, 'whizbang', instanceId, { ...facts, name, event_types } as never);
  }
  await client.query(`update wh_perspectives set state = 'live'`);
  await client.query(
    `update wh_perspective_bookmarks set tick = t.tick, upto = upper(t.covers) - 1
     from (select * from wh_event_ticks order by tick desc limit 1) t`,
  );
}

async function rowsWritten(client: pg.Client): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ rows: string }>(
    `select sum(n_tup_ins + n_tup_upd + n_tup_del) as rows from pg_stat_user_tables
     where relname like 'wh\\_%' and relname <> 'wh_service_instances'`,
  );
  return Number(rows[0]?.rows);
}

async function caughtUp(context: BenchContext): Promise<readonly Finding[]> {
  const streams = context.size(100_000, 1_000);
  const setting = `a call with five perspectives that have caught up, over ${formatCount(streams)} streams, above one with none`;
  context.progress(setting);
  const store = await BenchEventStore.open(context.server);
  try {
    const { client } = store;
    await store.fill(streams);
    await store.tick(streams);
    const instanceId = randomUUID();
    await registerAll(client, instanceId);
    await store.settle();
    const codes = names.map((name) => `${name}@1`);
    const probe = (given: readonly string[] | null) => async () =>
      (await timed(() => client.query(call, [instanceId, given])))[1];
    const probes = [probe(codes), probe(null)];
    await takeTurns(probes, 0, context.size(50, 5));
    const written = await rowsWritten(client);
    const [costs = [], reference = []] = await takeTurns(probes, context.size(1_000, 10), 0);
    return [
      {
        setting,
        value: Math.max(median(costs) - median(reference), 0),
        unit: 'ms',
        bar: { kind: 'at-most', value: 0.1 },
        info: `${describeCost(costs)} against ${describeCost(reference)}`,
      },
      {
        setting: 'rows that these calls have written, without heartbeats',
        value: (await rowsWritten(client)) - written,
        bar: { kind: 'at-most', value: 0 },
        info: `${costs.length + reference.length} calls`,
      },
    ];
  } finally {
    await store.close();
  }
}

async function besideWriter(context: BenchContext): Promise<Finding> {
  const setting =
    'append to model visible, p99, 500 events/s, beside a writer that stays open, against without';
  context.progress(setting);
  const milliseconds = context.size(60_000, 1_000);
  const events = await SteadyEvents.open(context.server);
  try {
    await events.lags(milliseconds / 10);
    const reference = await events.lags(milliseconds);
    let costs: number[];
    {
      await using _writer = await events.openWriter();
      costs = await events.lags(milliseconds);
    }
    const [p99, before] = [quantile(costs, 0.99), quantile(reference, 0.99)];
    return {
      setting,
      value: p99 / before,
      bar: { kind: 'at-most', value: 2 },
      info: `${p99.toFixed(1)} ms (median ${median(costs).toFixed(1)}) against ${before.toFixed(1)} ms (median ${median(reference).toFixed(1)})`,
    };
  } finally {
    await events.close();
  }
}

async function besideSnapshot(context: BenchContext): Promise<Finding> {
  const seconds = context.size(120, 2);
  const setting = `a batch of 100 after ${seconds} s beside an old snapshot, against the first ones`;
  context.progress(setting);
  const maker = await PerspectiveMaker.open(context.server);
  const reader = await maker.pool.connect();
  try {
    const batch = async () => {
      await maker.fill(100, 1);
      return maker.catchUp();
    };
    for (let i = 0; i < context.size(50, 2); i++) await batch();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select count(*) from wh_event_store');
    const costs: number[] = [];
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) costs.push(await batch());
    const group = Math.max(Math.floor(costs.length / 10), 1);
    const [first, last] = [costs.slice(0, group), costs.slice(-group)];
    return {
      setting,
      ...costRatio(last, first),
      bar: { kind: 'at-most', value: 1.5 },
      info: `${describeCost(last)} against ${describeCost(first)}, ${formatCount(costs.length)} batches`,
    };
  } finally {
    await reader.query('rollback');
    reader.release();
    await maker.close();
  }
}

async function secondInstance(context: BenchContext): Promise<Finding> {
  const events = context.size(6_000, 60);
  const setting = `${formatCount(events)} events waiting, a function of 5 ms, two instances against one`;
  context.progress(setting);
  const one = await secondsWithInstances(context.server, 1, events);
  const two = await secondsWithInstances(context.server, 2, events);
  return {
    setting,
    value: one / two,
    bar: { kind: 'at-least', value: 1.8 },
    info: `${two.toFixed(1)} s against ${one.toFixed(1)} s`,
  };
}
