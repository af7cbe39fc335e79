// How many calls to the database each strategy makes for 1 000 messages, against the expected number:
// immediate one per message, scoped one per scope, interval one per 100 ms. Counts, not timings. Idle: one
// message, or scope, waits for the one before it. Loaded: a hundred senders do that at the same time.

import pg from 'pg';
import { WorkCoordinator } from '../../src/coordinator/index.js';
import { newMessageId } from '../../src/message-id.js';
import { createStrategy, type StrategyName } from '../../src/strategies/index.js';
import { formatCount } from '../measure/interleave.js';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';

const intervalMs = 100;
const messagesPerScope = 10;
const senders = 100;

interface Load {
  readonly coordinator: Pick<WorkCoordinator, 'processWorkBatch'>;
  readonly messages: readonly BenchMessage[];
  readonly senders: number;
}

interface Way {
  readonly name: StrategyName;
  /** The number of messages of an idle run. Interval waits for its whole interval each time. */
  readonly idle: readonly [full: number, quick: number];
  /** The expected number of calls for these messages in this time. */
  expected(messages: number, elapsedMs: number): number;
  send(load: Load): Promise<void>;
}

const ways: readonly Way[] = [
  {
    name: 'immediate',
    idle: [1_000, 50],
    expected: (messages) => messages,
    send: (load) => oneByOne('immediate', load),
  },
  {
    name: 'scoped',
    idle: [1_000, 50],
    expected: (messages) => messages / messagesPerScope,
    send: scopeByScope,
  },
  {
    name: 'interval',
    idle: [100, 3],
    expected: (_, elapsedMs) => elapsedMs / intervalMs,
    send: (load) => oneByOne('interval', load),
  },
];

export const strategies: Question = {
  name: 'strategies',
  asks: 'calls to the database per message, against one per message, scope or 100 ms',
  async run(context) {
    const findings: Finding[] = [];
    for (const way of ways) {
      findings.push(await count(context, way, 'idle', context.size(...way.idle), 1));
      findings.push(await count(context, way, 'loaded', context.size(10_000, 1_000), senders));
    }
    return findings;
  },
};

async function count(
  context: BenchContext,
  way: Way,
  load: string,
  messages: number,
  atOnce: number,
): Promise<Finding> {
  context.progress(`${way.name}, ${load}`);
  const database = await context.server.createMigratedDatabase();
  const pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
  const real = new WorkCoordinator({ pool, instance: { serviceName: 'bench' } });
  let calls = 0;
  const coordinator = {
    processWorkBatch: (request: Parameters<WorkCoordinator['processWorkBatch']>[0]) => {
      calls++;
      return real.processWorkBatch(request);
    },
  };
  try {
    const start = performance.now();
    await way.send({ coordinator, messages: messageSource('own')(messages), senders: atOnce });
    const elapsedMs = performance.now() - start;
    await expectStored(pool, messages);
    const expected = way.expected(messages, elapsedMs);
    const per1000 = (count: number) => formatCount((count * 1000) / messages);
    return {
      setting: `${way.name}, ${load}: calls, against one per message, scope or 100 ms`,
      value: calls / expected,
      bar: { kind: 'at-most', value: 1 },
      info: `${per1000(calls)} calls per 1 000 messages, expected ${per1000(expected)}; ${formatCount(messages)} messages, ${atOnce} at once`,
    };
  } finally {
    await pool.end();
    await database.drop();
  }
}

/** Sends one by one: each sender waits for its message before it sends the next. */
async function oneByOne(name: StrategyName, { coordinator, messages, senders }: Load): Promise<void> {
  await using strategy = createStrategy(name, { coordinator, intervalMs });
  await share(messages, senders, 1, async ([message]) => {
    if (message !== undefined) await strategy.queueOutboxMessage(toSend(message)).carried;
  });
}

/** Sends scope by scope: each sender makes requests one after the other, and each request is a scope. */
async function scopeByScope({ coordinator, messages, senders }: Load): Promise<void> {
  await share(messages, senders, messagesPerScope, async (scopeMessages) => {
    await using scope = createStrategy('scoped', { coordinator });
    for (const message of scopeMessages) scope.queueOutboxMessage(toSend(message));
  });
}

async function share(
  messages: readonly BenchMessage[],
  senders: number,
  size: number,
  send: (some: readonly BenchMessage[]) => Promise<void>,
): Promise<void> {
  let next = 0;
  const sender = async () => {
    while (next < messages.length) {
      const some = messages.slice(next, next + size);
      next += size;
      await send(some);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
}

const toSend = (message: BenchMessage) => ({
  messageId: newMessageId(),
  destination: message.destination,
  eventType: message.event_type,
  eventData: message.event_data,
  metadata: message.metadata,
  streamId: message.stream_id,
});

async function expectStored(pool: pg.Pool, messages: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from wh_outbox');
  if (rows[0]?.count !== messages) throw new Error(`${rows[0]?.count} of ${messages} messages were stored`);
}
