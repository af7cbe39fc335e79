// whizbang, which always keeps order, against its peers at their best without ordering, and against the
// one that has a way to order. All take turns in one run.

import { openBullMq } from '../contenders/bullmq.js';
import { closeAll, type Runner } from '../contenders/contender.js';
import { openGraphileWorker } from '../contenders/graphile-worker.js';
import { openPgBoss } from '../contenders/pg-boss.js';
import { openWhizbang } from '../contenders/whizbang.js';
import { interleave, perSecond, type Rates, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question, Skipped } from '../question.js';
import type { BenchServer } from '../server.js';

type Ours = 'whizbang 100' | 'whizbang 500';

interface Peer {
  readonly setting: string;
  readonly against: Ours;
  readonly bar?: number;
  open(server: BenchServer, context: BenchContext): Promise<Runner>;
}

const peersOfWhizbang: readonly Peer[] = [
  {
    setting: 'pg-boss 10, unordered, batch 100',
    against: 'whizbang 100',
    bar: 1.5,
    open: (server) => openPgBoss(server, { batchSize: 100, streams: 'own' }),
  },
  {
    setting: 'pg-boss 10, unordered, batch 500',
    against: 'whizbang 500',
    bar: 1.5,
    open: (server) => openPgBoss(server, { batchSize: 500, streams: 'own' }),
  },
  {
    setting: 'graphile-worker 0.17, unordered, local queue 500',
    against: 'whizbang 500',
    bar: 1.0,
    open: (server, context) =>
      openGraphileWorker(server, {
        batchSize: 500,
        streams: 'own',
        namedQueues: false,
        jobsPerCycle: context.size(5000, 500),
      }),
  },
  {
    setting: 'graphile-worker 0.17, 100 named queues',
    against: 'whizbang 100',
    bar: 30,
    open: (server, context) =>
      openGraphileWorker(server, {
        batchSize: 100,
        streams: 100,
        namedQueues: true,
        jobsPerCycle: context.size(500, 100),
      }),
  },
  {
    setting: 'BullMQ 6 on PostgreSQL, unordered, concurrency 16',
    against: 'whizbang 500',
    open: (server, context) =>
      openBullMq(server, {
        batchSize: 500,
        streams: 'own',
        concurrency: 16,
        jobsPerCycle: context.size(1000, 100),
      }),
  },
];

export const peers: Question = {
  name: 'peers',
  asks: 'full cycle, ordered over 100 streams, against the peers',
  async run(context) {
    const runners: Runner[] = [];
    const skipped: Skipped[] = [];
    const places = new Map<Ours | Peer, number>();
    const add = async (key: Ours | Peer, opening: Promise<Runner>) => {
      runners.push(await opening);
      places.set(key, runners.length - 1);
    };
    try {
      await add('whizbang 100', openWhizbang(context.server, { batchSize: 100, streams: 100 }));
      await add('whizbang 500', openWhizbang(context.server, { batchSize: 500, streams: 100 }));
      for (const peer of peersOfWhizbang) {
        context.progress(`opening ${peer.setting}`);
        await add(peer, peer.open(context.server, context)).catch((error: unknown) => {
          skipped.push({ setting: peer.setting, skipped: `could not be run here: ${String(error)}` });
        });
      }
      context.progress('taking turns');
      const rates = await interleave(runners, {
        rounds: context.size(9, 1),
        sliceMs: context.size(1500, 100),
        warmUpMs: context.size(2000, 50),
      });
      const of = (key: Ours | Peer): Rates | undefined => rates[places.get(key) ?? -1];
      return [
        ...peersOfWhizbang.filter((peer) => places.has(peer)).map((peer) => compare(peer, of)),
        ...skipped,
      ];
    } finally {
      await closeAll(runners);
    }
  },
};

function compare(peer: Peer, of: (key: Ours | Peer) => Rates | undefined): Finding {
  return {
    setting: peer.setting,
    ...ratioOf(of(peer.against), of(peer)),
    ...(peer.bar === undefined ? {} : { bar: { kind: 'at-least', value: peer.bar } }),
    info: `${peer.against} ${perSecond(of(peer.against))}, peer ${perSecond(of(peer))}`,
  };
}
