// From the commit of a plain insert to the start of the handler, in a service that sleeps: one message at a time,
// with pauses. One process, its monotonic clock, from the moment when the answer to the commit is there (and, for
// information, from the moment when the commit left). The way is outbox, wh_transfer, inbox, receptor with a
// transaction; also from the inbox alone, with other instances asleep beside, and by polling.
// Then the same under moderate load, with one, two and three instances in turns: messages come at random, many are under way at
// once. Beside the times stand the calls and the notifications that a message costs.

import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { formatCount } from '../measure/interleave.js';
import { type Load, messagesPerSecond, moderateLoad } from '../measure/moderate-load.js';
import { OrderPlaced, orderOf, RunningService } from '../measure/running-service.js';
import { quantile } from '../measure/statistics.js';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';

/** Resolves when the answer to the commit is there, with the time at which the commit left. */
type Insert = (service: RunningService, message: BenchMessage) => Promise<number>;

interface Way {
  readonly setting: string;
  readonly insert: Insert;
  readonly instances?: number;
  readonly listens?: false;
}

const pollIntervalMs = 1_000;

const ways: readonly Way[] = [
  { setting: 'publish in a transaction', insert: publishInTransaction },
  { setting: 'bare insert into wh_outbox', insert: insertIntoOutbox },
  { setting: 'the same, two instances', insert: insertIntoOutbox, instances: 2 },
  { setting: 'the same, three instances', insert: insertIntoOutbox, instances: 3 },
  { setting: 'bare insert into wh_inbox', insert: insertIntoInbox },
  { setting: 'bare insert into wh_outbox, polling alone', insert: insertIntoOutbox, listens: false },
];

export const latency: Question = {
  name: 'latency',
  asks: 'from commit to the start of the handler, idle service and moderate load',
  async run(context) {
    const findings: Finding[] = [];
    for (const way of ways) findings.push(await measure(context, way));
    return [...findings, ...(await underLoad(context))];
  },
};

async function measure(context: BenchContext, way: Way): Promise<Finding> {
  const { setting, insert, instances = 1, listens = true } = way;
  context.progress(setting);
  const handlers = new EventEmitter();
  const service = await RunningService.open(context.server, {
    transactional: true,
    instances,
    options: () => ({ listen: listens, pollIntervalMs }),
    onHandled: (messageId) => {
      handlers.emit('started', messageId, performance.now());
    },
  });
  try {
    const nextBatch = messageSource('own');
    const fromAnswer: number[] = [];
    const fromCommit: number[] = [];
    const count = listens ? context.size(400, 8) : context.size(60, 2);
    for (let i = -context.size(20, 1); i < count; i++) {
      await untilQuiet(service, listens);
      const [message] = nextBatch(1) as [BenchMessage];
      const started = once(handlers, 'started');
      const leftAt = await insert(service, message);
      const answeredAt = performance.now();
      const [messageId, startedAt] = (await started) as [string, number];
      if (messageId !== message.message_id) throw new Error(`handled ${messageId} instead`);
      if (i < 0) continue;
      fromAnswer.push(startedAt - answeredAt);
      fromCommit.push(startedAt - leftAt);
    }
    return {
      setting: `${setting}: p99`,
      value: quantile(fromAnswer, 0.99),
      unit: 'ms',
      ...(listens ? { bar: { kind: 'at-most', value: 20 } } : {}),
      info: `${describe(fromAnswer)}; ${formatCount(count)} messages; from when the commit left ${describe(fromCommit)}`,
    };
  } finally {
    await service.close();
  }
}

/** Slices in turns, so that what the machine does elsewhere meets all of them. */
async function underLoad(context: BenchContext): Promise<Finding[]> {
  const loads = new Map([1, 2, 3].map((instances) => [instances, [] as Load[]]));
  for (let round = 0; round < context.size(4, 1); round++) {
    for (const [instances, slices] of loads) {
      context.progress(`under load, ${instances} instances, round ${round + 1}`);
      slices.push(await moderateLoad(context, instances, context.size(5_000, 500)));
    }
  }
  return [...loads].map(([instances, slices]) => {
    const times = slices.flatMap(({ milliseconds }) => milliseconds);
    const perMessage = (count: (load: Load) => number) =>
      (slices.reduce((sum, load) => sum + count(load), 0) / times.length).toFixed(2);
    return {
      setting: `${messagesPerSecond} messages a second, ${instances} ${instances === 1 ? 'instance' : 'instances'}: p99`,
      value: quantile(times, 0.99),
      unit: 'ms' as const,
      info: `${describe(times)}; ${formatCount(times.length)} messages; for each ${perMessage(({ calls }) => calls)} calls, ${perMessage(({ notifications }) => notifications)} notifications`,
    };
  });
}

async function publishInTransaction({ first, client }: RunningService, message: BenchMessage) {
  await client.query('begin');
  await first.publish(orderOf(message), { tx: client, messageId: message.message_id });
  const leftAt = performance.now();
  await client.query('commit');
  return leftAt;
}

async function insertIntoOutbox({ client }: RunningService, message: BenchMessage) {
  const { message_id, event_data, stream_id } = message;
  const leftAt = performance.now();
  await client.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id) values ($1, $2, $2, $3, $4)`,
    [message_id, OrderPlaced.type, event_data, stream_id],
  );
  return leftAt;
}

async function insertIntoInbox({ client }: RunningService, message: BenchMessage) {
  const { message_id, event_data, stream_id } = message;
  const leftAt = performance.now();
  await client.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id) values ($1, $2, $2, $3, $4)`,
    [message_id, OrderPlaced.type, event_data, stream_id],
  );
  return leftAt;
}

/**
 * All is done and whoever listens is asleep again. The pause is of random length: where only the poll finds the message, it
 * must not come in step with it.
 */
async function untilQuiet({ client }: RunningService, listens: boolean): Promise<void> {
  for (;;) {
    await pause(40 + Math.random() * (listens ? 50 : pollIntervalMs));
    const { rows } = await client.query<{ left: boolean; sleeps: boolean }>(
      `select exists (select from wh_outbox) or exists (select from wh_inbox) as left, wh_sleeper() is not null as sleeps`,
    );
    const [now] = rows;
    if (now?.left === false && (now.sleeps || !listens)) return;
  }
}

function describe(milliseconds: readonly number[]): string {
  const at = (fraction: number) => quantile(milliseconds, fraction).toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)} ms`;
}
