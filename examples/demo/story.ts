// The demo from its first table to its verdict. Everything that it starts has ended when it returns or
// throws.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../src/index.js';
import { interrupt } from './chaos.js';
import type { DemoOptions } from './options.js';
import { isOver, type Progress, readProgress } from './progress.js';
import { createShop, takeOrders } from './shop.js';
import { judge, type Verdict } from './verdict.js';
import { createView, type View } from './view.js';
import { WarehouseInstance } from './warehouse.js';
import { createWorld, removeWorld, world } from './world.js';

/** The lease is short, so that the work of a dead process is soon taken over. The default is 15. */
const leaseSeconds = 4;
/** The longest time without progress. After it, the verdict is made on the state reached. */
const longestPauseMs = 30_000;
const lookEveryMs = 250;

export async function play(
  options: DemoOptions,
  connectionString: string,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const view = createView();
  const pool = new pg.Pool({ connectionString, max: 6 });
  // A connection that the server ends after it was released is no problem.
  pool.on('error', () => undefined);
  try {
    await createWorld(pool);
    await act(options, connectionString, pool, view, signal);
    view.end();
    return await judge(pool, world, options.messages);
  } finally {
    await removeWorld(pool).catch(() => undefined);
    await pool.end();
  }
}

async function act(
  options: DemoOptions,
  connectionString: string,
  pool: pg.Pool,
  view: View,
  signal: AbortSignal,
): Promise<void> {
  const warn = (text: string) => view.say(`warning: ${text.slice(0, 300)}`);
  const instances: WarehouseInstance[] = [];
  const shop = createShop(
    connectionString,
    loggerTo((text) => warn(`shop: ${text}`)),
  );
  try {
    await shop.start();
    for (let i = 1; i <= options.instances; i++) {
      const settings = { name: `warehouse-${i}`, connectionString, seed: options.seed, leaseSeconds };
      instances.push(new WarehouseInstance(settings, warn));
    }
    view.say(
      `The warehouse starts: ${instances.map(({ name, pid }) => `${name} is process ${pid}`).join(', ')}.`,
    );
    await Promise.all(instances.map((instance) => instance.ready()));
    const progress = () => readProgress(pool, options.messages, instances);
    const say = (line: string) => view.say(line);
    const [victim, sleeper] = instances as [WarehouseInstance, WarehouseInstance];
    let onRecovered = () => {};
    const recovered = new Promise<void>((resolve) => {
      onRecovered = resolve;
    });
    let told = 0;
    await together(signal, [
      async (ended) => {
        const isCaught = () => victim.state !== 'running';
        await takeOrders(shop, pool, options, { recovered, isCaught }, ended);
        told++;
      },
      async (ended) => {
        const chaos = { pool, leaseSeconds, progress, say, signal: ended, onRecovered };
        await interrupt([victim, sleeper], chaos);
        told++;
      },
      (ended) => watch(view, progress, instances, () => told === 2, ended),
    ]);
  } catch (error) {
    if (!(error instanceof NothingMoves)) throw error;
    view.say(error.message);
  } finally {
    await Promise.all(instances.map((instance) => (signal.aborted ? instance.kill() : instance.stop())));
    await shop.stop();
  }
}

class NothingMoves extends Error {}

/**
 * Shows the progress until the interruptions are over and all messages are handled. Throws when there is no
 * progress any more.
 */
async function watch(
  view: View,
  progress: () => Promise<Progress>,
  instances: readonly WarehouseInstance[],
  isTold: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let before = '';
  for (let movedAt = performance.now(); performance.now() - movedAt < longestPauseMs; ) {
    const now = await progress();
    view.show(now, instances);
    const ended = instances.find(({ state }) => state === 'ended');
    if (ended !== undefined) throw new Error(`${ended.name} ended unexpectedly`);
    if (isTold() && isOver(now)) return;
    const counts = [now.stored, now.handled, now.dead, now.shipped].join();
    if (counts !== before) movedAt = performance.now();
    before = counts;
    await wait(lookEveryMs, undefined, { signal });
  }
  throw new NothingMoves('There was no progress for a while. The result is taken as it is now.');
}

/**
 * Runs all tasks to their end. When one fails, the others are aborted, and its error is thrown when all have
 * ended.
 */
async function together(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const running = tasks.map(async (task) => {
    try {
      await task(ended);
    } catch (error) {
      failed.abort(error);
    }
  });
  await Promise.all(running);
  ended.throwIfAborted();
}

function loggerTo(warn: (text: string) => void): Logger {
  const tell = (facts: object, message: string) =>
    warn(`${message} ${JSON.stringify({ ...facts, hint: undefined })}`);
  return { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
}
