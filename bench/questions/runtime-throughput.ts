// Messages through a whole running service, against the runtimes of peers: published in batches of 100, checked against
// their schema twice, through the outbox, a transport and the inbox to a receptor that does nothing. Whizbang writes a message
// into two tables and keeps order; the peers write it into one and keep none, but for the one with named queues.

import { inProcessTransport, postgresTransport, type Transport } from '../../src/index.js';
import type { Runner } from '../contenders/contender.js';
import { closeAll } from '../contenders/contender.js';
import { openGraphileWorker } from '../contenders/graphile-worker.js';
import { openPgBossWorker } from '../contenders/pg-boss-worker.js';
import { openWhizbangService } from '../contenders/whizbang-service.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question } from '../question.js';

const batchSize = 100;

interface Group {
  readonly transport: string;
  readonly make: () => Transport;
  readonly transactional: boolean;
}

const groups: readonly Group[] = [
  { transport: 'PostgreSQL', make: postgresTransport, transactional: true },
  { transport: 'PostgreSQL', make: postgresTransport, transactional: false },
  { transport: 'in-process', make: inProcessTransport, transactional: true },
  { transport: 'in-process', make: inProcessTransport, transactional: false },
];

export const runtimeThroughput: Question = {
  name: 'runtime-throughput',
  asks: 'messages through a whole service, against the runtimes of peers',
  async run(context) {
    const findings: Finding[] = [];
    const chosen = context.quick ? groups.filter((_, i) => i % 3 === 0) : groups; // each kind once
    for (const group of chosen) findings.push(...(await compare(context, group)));
    return findings;
  },
};

async function compare(context: BenchContext, group: Group): Promise<Finding[]> {
  const kind = group.transactional ? 'a transaction each' : 'no transaction';
  context.progress(`${group.transport}, ${kind}`);
  const service = (streams: number | 'own') =>
    openWhizbangService(context.server, {
      name: `${group.transport}, ${kind}, ${streams === 'own' ? 'own streams' : `${streams} streams`}`,
      streams,
      transactional: group.transactional,
      messagesPerCycle: context.size(2_000, 200),
      options: () => ({ transport: group.make() }),
    });
  const runners: Runner[] = [];
  try {
    runners.push(await service(200), await service('own'));
    runners.push(
      await openGraphileWorker(context.server, {
        batchSize,
        streams: 'own',
        namedQueues: false,
        jobsPerCycle: context.size(2_000, 200),
      }),
      await openGraphileWorker(context.server, {
        batchSize,
        streams: 200,
        namedQueues: true,
        jobsPerCycle: context.size(500, 50),
      }),
      await openPgBossWorker(context.server, {
        batchSize,
        streams: 'own',
        jobsPerCycle: context.size(2_000, 200),
      }),
    );
    const rates = await interleave(runners, {
      rounds: context.size(7, 1),
      sliceMs: context.size(1_500, 100),
      warmUpMs: context.size(2_000, 50),
    });
    const [few, own, ...peers] = rates;
    return [few, own].flatMap((ours, i) =>
      peers.map((peer, j) => ({
        setting: `${runners[i]?.name}, against ${runners[j + 2]?.name}`,
        ...ratioOf(ours, peer),
        info: `${perSecond(ours)} against ${perSecond(peer)}`,
      })),
    );
  } finally {
    await closeAll(runners);
  }
}
