// One schedule from its seed: at least three instances, a few streams, steps, and at the end a fresh instance that
// must be able to finish everything. In: a database and steps. Out: nothing, or the first broken promise.
// A schedule leaves the database as empty as it found it, so the next one can follow in it.
import { Status } from '../../support/work.js';
import { emptyCall } from './batch-call.js';
import { broken } from './model.js';
import { Random } from './random.js';
import { drawSteps, perform, type Step } from './steps.js';
import { type Connections, World } from './world.js';

const stepsPerSchedule = 40;

export class ScheduleFailed extends Error {
  constructor(
    readonly steps: readonly Step[],
    readonly at: number,
    override readonly cause: unknown,
  ) {
    super(`at step ${at} (${steps[at]?.kind ?? 'drain'}): ${String(cause)}`);
  }
}

export function stepsOf(seed: number): Step[] {
  return drawSteps(new Random(seed), stepsPerSchedule);
}

export async function runSchedule(
  connections: Connections,
  seed: number,
  steps: readonly Step[],
  { takesAll = false } = {},
): Promise<void> {
  const random = new Random(seed ^ 0x5eed);
  const streams = Array.from({ length: 4 }, () => random.uuid());
  await connections.observer.query(
    `insert into wh_subscriptions (address, instance_id) values ('orders', gen_random_uuid())`,
  );
  const world = new World(connections, takesAll);
  for (let i = 0; i < 3; i++) world.join(random.uuid());
  let at = 0;
  try {
    await world.check();
    for (; at < steps.length; at++) {
      await perform(world, steps[at] as Step, streams);
      await world.check();
    }
    await drain(world, random.uuid());
  } catch (cause) {
    await world.forgetEverything();
    throw new ScheduleFailed(steps, at, cause);
  }
}

/** Everything that is left is handed out to one newcomer and can be finished, in a bounded number of calls. */
async function drain(world: World, newcomer: string): Promise<void> {
  for (const transaction of [...world.open]) await world.end(transaction, true);
  await world.pass(1000);
  await world.check();
  const worker = world.join(newcomer);
  for (let left = world.model.unfinished().length + 5; left > 0; left--) {
    const call = emptyCall(worker.id);
    call.takeoverSeconds = 0;
    Object.assign(call.room, { outbox: 3, inbox: 3 });
    for (const item of worker.memory) {
      const status = item.lane === 'outbox' ? Status.Published : Status.EventStored;
      call.reports.push({ ...item, kind: 'complete', status });
    }
    await world.call(worker, call);
    await world.check();
  }
  const { messages, streams } = world.snapshot;
  if (messages.length > 0) broken('messages are stranded', messages);
  if (streams.length > 0) broken('stream rows are left over', streams);
  await world.forgetEverything();
}
