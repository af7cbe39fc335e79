// Run as a process of its own: instances that end in every way, good and bad. Prints, for each, what would keep a process
// alive after it: nothing may. It does not call process.exit, so it ends by itself, or not at all.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import {
  createWhizbang,
  defineEvent,
  inProcessTransport,
  receptor,
  type WhizbangOptions,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { Transport } from '../../src/transport.js';

const { connectionString, emptyDatabase, doomedDatabase, serverUrl } = JSON.parse(
  process.argv[2] as string,
) as Record<'connectionString' | 'emptyDatabase' | 'doomedDatabase' | 'serverUrl', string>;

const Ping = defineEvent('Ping', { schema: z.object({}) });
const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';

function service(options: Partial<WhizbangOptions> = {}) {
  return createWhizbang({
    service: 'shop',
    connectionString,
    logger: silentLogger,
    receptors: [receptor(Ping, () => {})],
    ...options,
  } as WhizbangOptions);
}

const broken = (part: 'connect' | 'receive'): Transport => ({
  name: 'broken',
  traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
  connect: async (host) => {
    if (part === 'connect') throw new Error('no broker');
    const connection = await inProcessTransport().connect(host);
    return {
      send: (messages, signal) => connection.send(messages, signal),
      ready: (signal) => connection.ready(signal),
      close: () => connection.close(),
      receive: async () => {
        throw new Error('no such queue');
      },
    };
  },
});

async function failsToStart(options: Partial<WhizbangOptions>): Promise<void> {
  const started = await service(options)
    .start()
    .then(
      () => true,
      () => false,
    );
  if (started) throw new Error('it has started');
}

async function runsAndHangs(options: { transaction: boolean }): Promise<void> {
  let run = () => {};
  const running = new Promise<void>((resolve) => {
    run = resolve;
  });
  const hanging = receptor(Ping, options, async () => {
    run();
    await new Promise(() => {});
  });
  const shop = await service({ receptors: [hanging] }).start();
  await shop.publish(Ping({}));
  await running;
  await shop.stop({ seconds: 0.1 });
}

async function dropDoomed(): Promise<void> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`drop database ${new URL(doomedDatabase).pathname.slice(1)} with (force)`);
  await admin.end();
}

const ends: Readonly<Record<string, () => Promise<unknown>>> = {
  'made and never used': async () => service().stop(),
  'sent, never started': async () => {
    const shop = service();
    await shop.publish(Ping({}));
    await shop.stop();
  },
  'started and stopped': async () => (await service().start()).stop(),
  'stopped twice, and while it starts': async () => {
    const shop = service();
    const started = shop.start().catch(() => {});
    await Promise.all([shop.stop(), shop.stop(), started]);
  },
  'without LISTEN': async () => (await service({ listen: false }).start()).stop(),
  'with a LISTEN connection that cannot be had': async () =>
    (await service({ listen: nowhere }).start()).stop(),
  'by interval': async () => {
    const shop = await service({ strategy: 'interval' }).start();
    await shop.publish(Ping({}));
    await shop.stop();
  },
  'not migrated': () => failsToStart({ connectionString: emptyDatabase }),
  'no PostgreSQL': () => failsToStart({ connectionString: nowhere }),
  'no broker': () => failsToStart({ transport: broken('connect') }),
  'no queue': () => failsToStart({ transport: broken('receive') }),
  'a receptor hangs': () => runsAndHangs({ transaction: true }),
  'a receptor without a transaction hangs': () => runsAndHangs({ transaction: false }),
  'a pool of the user’s': async () => {
    const pool = new pg.Pool({ connectionString, max: 12 });
    await (await service({ pool, connectionString: undefined } as Partial<WhizbangOptions>).start()).stop();
    await pool.end();
  },
  'the database is gone': async () => {
    const shop = await service({ connectionString: doomedDatabase }).start();
    await dropDoomed();
    await shop.stop({ seconds: 0.5 });
  },
};

/** What keeps the event loop alive, but for the pipes to whoever started this. */
const alive = () => process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Immediate/.test(name));

for (const [name, end] of Object.entries(ends)) {
  await end();
  // An end that was begun takes a moment: sockets close, a last call comes back.
  const patience = performance.now() + 8_000;
  let left = alive();
  while (left.length > 0 && performance.now() < patience) {
    await new Promise((resolve) => setImmediate(resolve));
    await pause(20);
    left = alive();
  }
  console.log(JSON.stringify({ name, left }));
}
