// Two services and what joins them: from the commit in the outbox of one service to the handler of the other, through each
// transport, compared with the PostgreSQL transport in turns; and, for information, with what the client of the broker does
// by itself: publish, confirm, consume, acknowledge. A broker that is not here is reported as such.
import { randomUUID } from 'node:crypto';
import { postgresTransport } from '../../src/index.js';
import { closeAll, type Runner } from '../contenders/contender.js';
import { openTwoServices } from '../contenders/two-services.js';
import { type Way, ways } from '../contenders/ways.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question, Skipped } from '../question.js';

const streams = 200;

export const transports: Question = {
  name: 'transports',
  asks: 'two services, from the commit of one to the handler of the other, through each transport',
  async run(context) {
    const results: (Finding | Skipped)[] = [];
    for (const each of ways) results.push(...(await compare(context, each)));
    return results;
  },
};

async function compare(
  context: BenchContext,
  { broker, transport, atLeast, apart = false, bare, remove }: Way<AsyncDisposable>,
): Promise<readonly (Finding | Skipped)[]> {
  const setting = `${broker.name}, against PostgreSQL in the same database`;
  const found = await broker.find();
  if (found === undefined) return [{ setting, skipped: broker.howToTry }];
  await using server = found;
  context.progress(broker.name);
  const run = `bench-${randomUUID().slice(0, 8)}`;
  const load = { streams, messagesPerCycle: context.size(3_000, 400) };
  const runners: Runner[] = [];
  try {
    runners.push(
      await openTwoServices(context.server, {
        ...load,
        name: 'PostgreSQL',
        transport: () => postgresTransport(),
      }),
    );
    runners.push(
      await openTwoServices(context.server, {
        ...load,
        name: broker.name,
        apart,
        transport: (service, shop) => transport(server, run, service, shop),
      }),
    );
    if (bare !== undefined) runners.push(await bare(server, run, load));
    const [base, ours, client] = await interleave(runners, {
      rounds: context.size(7, 1),
      sliceMs: context.size(1_000, 100),
      warmUpMs: context.size(1_000, 50),
    });
    const measured: Finding = {
      setting,
      ...ratioOf(ours, base),
      ...(atLeast !== undefined && { bar: { kind: 'at-least', value: atLeast } }),
      info: `${perSecond(ours)} against ${perSecond(base)}`,
    };
    if (client === undefined) return [measured];
    const forInformation: Finding = {
      setting: `${broker.name}, against ${runners[2]?.name}: no database, no order`,
      ...ratioOf(ours, client),
      info: `${perSecond(ours)} against ${perSecond(client)}`,
    };
    return [measured, forInformation];
  } finally {
    await closeAll(runners);
    await remove?.(server, run);
  }
}
