// What it costs a whole service that much waits for later, or at limits. A million timers wait, and the service sends and
// handles commands beside them, in turns with one without timers. Then a receptor with a limit for each key, over all
// instances, where each message has a key of its own, so that every message asks and none waits; in turns with one
// without a limit.

import type pg from 'pg';
import { closeAll, type Runner } from '../contenders/contender.js';
import { openWhizbangService, type ServiceSettings } from '../contenders/whizbang-service.js';
import { formatCount, interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question } from '../question.js';

export const waiting: Question = {
  name: 'waiting',
  asks: 'a service beside a million timers, and one with a limit for each of 10 000 keys',
  async run(context) {
    const count = context.size(1_000_000, 2_000);
    const perCycle = context.size(3_000, 400);
    const keys = context.size(10_000, 400);
    const plain = { kind: 'command', streams: 200, effect: false, messagesPerCycle: perCycle } as const;
    const own = { ...plain, streams: 'own', messagesPerCycle: keys } as const;
    return [
      await compare(context, `beside ${formatCount(count)} timers, against none`, 0.95, {
        one: { ...plain, name: 'timers', prepare: (client) => setTimers(client, count) },
        other: { ...plain, name: 'no timers' },
      }),
      await compare(
        context,
        `a limit for each of ${formatCount(keys)} keys over all instances, against none`,
        0.2,
        {
          one: {
            ...own,
            name: 'limits',
            limits: { concurrency: 1, across: 'instances', key: ({ orderId }) => orderId },
          },
          other: { ...own, name: 'no limits' },
        },
      ),
    ];
  },
};

async function setTimers(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `insert into wh_timers (message_id, due_at, destination, event_type, event_data, metadata, is_event, is_direct)
     select gen_random_uuid(), clock_timestamp() + interval '1 day' + i * interval '1 second', 'shop', 'PlaceOrder', '{"orderId":"a"}', '{}', false, true
     from generate_series(1, $1::int) i`,
    [count],
  );
  await client.query('analyze wh_timers');
}

async function compare(
  context: BenchContext,
  setting: string,
  bar: number,
  settings: Readonly<Record<'one' | 'other', ServiceSettings>>,
): Promise<Finding> {
  context.progress(setting);
  const runners: Runner[] = [];
  try {
    for (const each of [settings.one, settings.other])
      runners.push(await openWhizbangService(context.server, each));
    const [one, other] = await interleave(runners, {
      rounds: context.size(7, 1),
      sliceMs: context.size(1_000, 50),
      warmUpMs: context.size(1_000, 50),
    });
    return {
      setting,
      ...ratioOf(one, other),
      bar: { kind: 'at-least', value: bar },
      info: `${perSecond(one)} against ${perSecond(other)}`,
    };
  } finally {
    await closeAll(runners);
  }
}
