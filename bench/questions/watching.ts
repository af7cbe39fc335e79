// What it costs to watch the order, which is always on, and to keep a history, which is opted into: the same cycles, with it
// and without it.
import type pg from 'pg';
import { closeAll } from '../contenders/contender.js';
import { openWhizbang } from '../contenders/whizbang.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question } from '../question.js';

const cycle = { batchSize: 100, streams: 100 } as const;

export const watching: Question = {
  name: 'watching',
  asks: 'the watch over the order, and a history of all messages, against the same without',
  async run(context) {
    return [
      await compare(context, 'order watched', [cycle, { ...cycle, prepare: withoutWatch }], 0.97),
      await compare(context, 'history of all', [{ ...cycle, historyPercent: 100 }, cycle], 0.6),
      await compare(context, 'history of a tenth', [{ ...cycle, historyPercent: 10 }, cycle], 0.85),
    ];
  },
};

type Settings = Parameters<typeof openWhizbang>[1];

async function compare(
  context: BenchContext,
  setting: string,
  [own, other]: readonly [Settings, Settings],
  bar: number,
): Promise<Finding> {
  context.progress(setting);
  const runners = [await openWhizbang(context.server, own), await openWhizbang(context.server, other)];
  try {
    const [with_, without] = await interleave(runners, {
      rounds: context.size(14, 2),
      sliceMs: context.size(700, 100),
      warmUpMs: context.size(2000, 50),
    });
    return {
      setting,
      ...ratioOf(with_, without),
      bar: { kind: 'at-least', value: bar, own: true },
      info: `with ${perSecond(with_)}, without ${perSecond(without)}`,
    };
  } finally {
    await closeAll(runners);
  }
}

/** Takes the comparison out of the function that settles streams. Throws where its text is no longer found. */
async function withoutWatch(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select pg_get_functiondef('wh_settle_outbox'::regproc) as text`);
  const { text } = rows[0] as { text: string };
  const plain = text.replace(
    /from \(\s*select g\.stream_id[\s\S]*?having bool_or\(g\.done is null\)\) k/,
    'from (select u as stream_id, null::bigint as first_done, null::bigint as last_done from unnest(p_stream_ids) u) k',
  );
  if (plain === text) throw new Error('wh_settle_outbox has changed: the watch was not found in it.');
  await client.query(plain);
}
