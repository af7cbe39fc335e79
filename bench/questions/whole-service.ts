// A whole service, from the call that sends to the handler's effect, compared with its alternatives. Each
// side is written as its users would write it: whizbang ordered over 200 streams, one instance, defaults
// everywhere; its peers at their best, which is without order. All send in batches of 100 outside a
// transaction, some thousands a cycle, while the handlers run. Comparisons, each in turns: a handler that
// does nothing; one that writes a row exactly once; and, for information, other ways to run whizbang. Then
// the rows that are written for a message, which is a count.

import { inProcessTransport } from '../../src/index.js';
import { closeAll, type Runner } from '../contenders/contender.js';
import { openGraphileWorker } from '../contenders/graphile-worker.js';
import { openPgBossWorker } from '../contenders/pg-boss-worker.js';
import { openSkipLocked } from '../contenders/skip-locked.js';
import { openWhizbangService, type ServiceSettings } from '../contenders/whizbang-service.js';
import { formatCount, interleave, perSecond, ratioOf } from '../measure/interleave.js';
import { writesPerMessage } from '../measure/writes-per-message.js';
import type { BenchContext, Finding, Question } from '../question.js';

const batchSize = 100;
const streams = 200;

type Open = (context: BenchContext) => Promise<Runner>;

interface Line {
  readonly setting: string;
  readonly ours: string;
  readonly peer: string;
  readonly bar?: number;
}

interface Contest {
  readonly name: string;
  readonly rounds: number;
  readonly contenders: Readonly<Record<string, Open>>;
  readonly lines: readonly Line[];
}

const contests: readonly Contest[] = [
  {
    name: 'a handler that does nothing',
    rounds: 7,
    contenders: {
      commands: whizbang({ kind: 'command' }),
      events: whizbang({ kind: 'event' }),
      graphile: graphile(),
      boss: (context) =>
        openPgBossWorker(context.server, { batchSize, streams, jobsPerCycle: perCycle(context) }),
    },
    lines: [
      { setting: 'commands, against graphile-worker', ours: 'commands', peer: 'graphile', bar: 1 },
      { setting: 'commands, against pg-boss', ours: 'commands', peer: 'boss', bar: 1 },
      { setting: 'events, against graphile-worker', ours: 'events', peer: 'graphile', bar: 0.8 },
      { setting: 'events, against pg-boss', ours: 'events', peer: 'boss', bar: 0.8 },
    ],
  },
  {
    name: 'a handler that writes a row',
    rounds: 7,
    contenders: {
      once: whizbang({ kind: 'command', effect: true }),
      graphile: graphile({ effect: true }),
      byOne: skipLocked(1),
      by16: skipLocked(16),
    },
    lines: [
      {
        setting: 'a row exactly once, against graphile-worker at least once',
        ours: 'once',
        peer: 'graphile',
        bar: 1,
      },
      {
        setting: 'a row exactly once, against skip locked by hand, one by one',
        ours: 'once',
        peer: 'byOne',
        bar: 2,
      },
      {
        setting: 'a row exactly once, against skip locked by hand, 16 at a time',
        ours: 'once',
        peer: 'by16',
        bar: 0.6,
      },
    ],
  },
  {
    name: 'other ways to run it',
    rounds: 3,
    contenders: {
      commands: whizbang({ kind: 'command' }),
      piled: whizbang({ kind: 'command', batchesAtOnce: 30 }),
      own: whizbang({ kind: 'command', streams: 'own' }),
      inProcess: whizbang({ kind: 'command', options: () => ({ transport: inProcessTransport() }) }),
      named: (context) =>
        openGraphileWorker(context.server, {
          batchSize,
          streams,
          namedQueues: true,
          jobsPerCycle: context.size(500, 50),
        }),
    },
    lines: [
      { setting: 'commands, 30 batches sent at once, against one by one', ours: 'piled', peer: 'commands' },
      { setting: 'commands with own streams, against 200 streams', ours: 'own', peer: 'commands' },
      { setting: 'commands in-process, against by PostgreSQL', ours: 'inProcess', peer: 'commands' },
      {
        setting: 'commands, against graphile-worker with 200 named queues',
        ours: 'commands',
        peer: 'named',
      },
    ],
  },
];

export const wholeService: Question = {
  name: 'whole-service',
  asks: "a whole service, from publish to the handler's effect, compared with alternatives",
  async run(context) {
    const findings: Finding[] = [];
    for (const contest of contests) findings.push(...(await hold(context, contest)));
    findings.push(await writes(context, 'command', 5), await writes(context, 'event', 7));
    return findings;
  },
};

async function hold(context: BenchContext, { name, rounds, contenders, lines }: Contest): Promise<Finding[]> {
  context.progress(name);
  const names = Object.keys(contenders);
  const runners: Runner[] = [];
  try {
    for (const open of Object.values(contenders)) runners.push(await open(context));
    const rates = await interleave(runners, {
      rounds: context.size(rounds, 1),
      sliceMs: context.size(1_000, 100),
      warmUpMs: context.size(1_000, 50),
    });
    return lines.map(({ setting, ours, peer, bar }) => {
      const [a, b] = [rates[names.indexOf(ours)], rates[names.indexOf(peer)]];
      return {
        setting,
        ...ratioOf(a, b),
        ...(bar === undefined ? {} : { bar: { kind: 'at-least', value: bar } as const }),
        info: `${perSecond(a)} against ${perSecond(b)}`,
      };
    });
  } finally {
    await closeAll(runners);
  }
}

async function writes(context: BenchContext, kind: 'event' | 'command', most: number): Promise<Finding> {
  const messages = context.size(20_000, 500);
  context.progress(`rows written for ${messages} ${kind}s`);
  const { perMessage, tables } = await writesPerMessage(context.server, kind, { streams, messages });
  const named = tables
    .filter(([, rows]) => rows >= 0.005)
    .map(([table, rows]) => `${rows.toFixed(2)} ${table}`);
  return {
    setting: `rows written for ${kind === 'event' ? 'an event' : 'a command'}`,
    value: perMessage,
    bar: { kind: 'at-most', value: most },
    info: `${named.join(', ')}; ${formatCount(messages)} messages`,
  };
}

function whizbang(settings: Pick<ServiceSettings, 'kind'> & Partial<ServiceSettings>): Open {
  return (context) =>
    openWhizbangService(context.server, {
      name: 'whizbang',
      streams,
      effect: false,
      messagesPerCycle: perCycle(context),
      ...settings,
    });
}

function graphile({ effect = false } = {}): Open {
  return (context) =>
    openGraphileWorker(context.server, {
      batchSize,
      streams,
      namedQueues: false,
      jobsPerCycle: perCycle(context),
      effect,
    });
}

function skipLocked(jobsPerTransaction: number): Open {
  return (context) =>
    openSkipLocked(context.server, {
      batchSize,
      streams,
      jobsPerTransaction,
      jobsPerCycle: perCycle(context),
    });
}

function perCycle(context: BenchContext): number {
  return context.size(3_000, 400); // several of each stream, because one alone shows no order
}
