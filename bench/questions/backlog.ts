// Whether a claim gets more expensive with the backlog: handing out 100 messages of a backlog of a million,
// against a backlog of a thousand. Every message has its own stream, so a million streams wait as well.
// Measured once as it was stored, and once after a coordinator has admitted all of it.

import { costRatio, describeCost, takeTurns } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue, type Feeding } from '../queue.js';

const batchSize = 100;

interface Kind {
  readonly feeding: Feeding;
  readonly admitted: boolean;
  readonly title: string;
}

const kinds: readonly Kind[] = [
  { feeding: 'function', admitted: false, title: 'stored by the function' },
  { feeding: 'plain insert', admitted: false, title: 'plainly inserted' },
  { feeding: 'plain insert', admitted: true, title: 'plainly inserted, then admitted' },
];

export const backlog: Question = {
  name: 'backlog',
  asks: 'cost of claiming 100 with a large backlog, against a small one',
  async run(context) {
    const findings: Finding[] = [];
    for (const kind of kinds) findings.push(await compareBacklogs(context, kind));
    return findings;
  },
};

async function compareBacklogs(context: BenchContext, kind: Kind): Promise<Finding> {
  const large = context.size(1_000_000, 3_000);
  const small = context.size(1_000, 300);
  const queues = [await filled(context, large, kind), await filled(context, small, kind)];
  try {
    const nextBatch = messageSource('own');
    const [manyCosts = [], fewCosts = []] = await takeTurns(
      queues.map(
        (queue) => () =>
          kind.admitted
            ? queue.claimAndRelease(batchSize)
            : queue.claimAndReplace(batchSize, kind.feeding, nextBatch),
      ),
      context.size(300, 10),
      context.size(20, 2),
    );
    return {
      setting: `${formatCount(large)} against ${formatCount(small)}, ${kind.title}`,
      ...costRatio(manyCosts, fewCosts),
      bar: { kind: 'at-most', value: 1.3 },
      info: `${describeCost(manyCosts)} against ${describeCost(fewCosts)}`,
    };
  } finally {
    for (const queue of queues) await queue.close();
  }
}

async function filled(context: BenchContext, count: number, kind: Kind): Promise<BenchQueue> {
  context.progress(`filling ${formatCount(count)}, ${kind.title}`);
  const queue = await BenchQueue.open(context.server);
  await queue.fill(count, kind.feeding);
  if (kind.admitted) await queue.admitAll();
  await queue.settle();
  return queue;
}
