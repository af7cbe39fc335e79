// Messages at times of the clock, what became of them, and an instance that handles them.
import type pg from 'pg';
import { expect } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineCommand, receptor, schedule } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { eventually } from '../../support/eventually.js';
import { shortLeases } from './shop.js';

export const Remind = defineCommand('Remind', {
  schema: z.object({ stream: z.string(), due: z.string(), n: z.number() }),
  stream: ({ stream }) => stream,
});
const Tick = defineCommand('Tick', { schema: z.object({ due: z.string() }), stream: () => 'ticks' });

export const handledTable = `
  create table if not exists handled (
    place bigint generated always as identity, stream text not null, due timestamptz not null, n int not null,
    handled_at timestamptz not null default clock_timestamp())`;
const insert = 'insert into handled (stream, due, n) values ($1, $2, $3)';

const patterns = { second: '* * * * * *', minute: '* * * * *' };

interface ClockworkOptions {
  readonly connectionString: string;
  /** Whether it has a schedule that ticks every second, or every minute. */
  readonly ticks?: 'second' | 'minute';
}

/** An instance that writes down what it handles, and when. */
export function createClockwork({ connectionString, ticks }: ClockworkOptions) {
  return createWhizbang({
    service: 'clockwork',
    connectionString,
    logger: silentLogger,
    ...shortLeases,
    receptors: [
      receptor(Remind, async ({ stream, due, n }, { tx }) => void (await tx.query(insert, [stream, due, n]))),
      receptor(Tick, async ({ due }, { tx }) => void (await tx.query(insert, ['ticks', due, 0]))),
    ],
    ...(ticks !== undefined && {
      schedules: [
        schedule('tick', patterns[ticks], (time) => Tick({ due: time.toISOString() }), { catchUp: 'all' }),
      ],
    }),
  });
}

interface Handled {
  readonly stream: string;
  readonly due: Date;
  readonly n: number;
  readonly handled_at: Date;
}

export async function handledIn(pool: pg.Pool): Promise<readonly Handled[]> {
  return (await pool.query('select stream, due, n, handled_at from handled order by place'))
    .rows as Handled[];
}

/** Sets so many timers over some streams, due within these seconds, in any order. Returns how many. */
export async function remind(
  sender: ReturnType<typeof createClockwork>,
  count: number,
  withinSeconds: number,
  fromMs = Date.now(),
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  for (let n = 0; n < count; n++) {
    const due = new Date(fromMs + ((n * 7919) % count) * ((withinSeconds * 1000) / count));
    const message = Remind({ stream: `s${n % 5}`, due: due.toISOString(), n });
    ids.set(await sender.send(message, { at: due }), n);
  }
  return ids;
}

/** All of these were handled, once, none early, and no timer is left. */
export async function expectHandled(pool: pg.Pool, expected: readonly number[]): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query(
      'select from whizbang.wh_timers union all select from whizbang.wh_inbox',
    );
    expect(rows).toEqual([]);
    expect((await handledIn(pool)).length).toBeGreaterThanOrEqual(expected.length);
  });
  const handled = await handledIn(pool);
  expect(handled.map(({ n }) => n).sort((a, b) => a - b)).toEqual([...expected].sort((a, b) => a - b));
  expect(handled.filter(({ due, handled_at }) => handled_at < due)).toEqual([]);
}

/** Every second, or every minute, was ticked for, once. */
export async function expectTicks(pool: pg.Pool, every: 'second' | 'minute'): Promise<void> {
  const ticks = (await handledIn(pool)).filter(({ stream }) => stream === 'ticks');
  const times = ticks.map(({ due }) => due.getTime() / (every === 'second' ? 1_000 : 60_000));
  expect(times).toEqual(times.map((_, i) => (times[0] as number) + i));
}
