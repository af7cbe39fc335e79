import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/migrate/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { memoryFolder } from '../support/memory-folder.js';
import { clockCanBeStepped, orWhyNot, startSteppingServer } from '../support/stepping-clock.js';
import {
  createClockwork,
  expectHandled,
  expectTicks,
  handledIn,
  handledTable,
  Remind,
  remind,
} from './support/clockwork.js';
import { startProgram } from './support/process.js';

const startInstance = (plan: object) =>
  startProgram(new URL('support/clockwork-program.ts', import.meta.url), plan);
const untilHandled = (pool: pg.Pool, count: number) =>
  eventually(async () => expect((await handledIn(pool)).length).toBeGreaterThanOrEqual(count));

describe('Timers and schedules of instances that die', () => {
  it('a timer fires once, not lost and not early, while instances are killed and stopped', async () => {
    await using db = await createTestDatabase();
    const { connectionString, pool } = db;
    await pool.query(handledTable);
    await using one = await startInstance({ connectionString });
    await using two = createClockwork({ connectionString });
    await two.start();
    await using sender = createClockwork({ connectionString });
    const ids = await remind(sender, 200, 5);
    await untilHandled(pool, 20);
    one.signal('SIGKILL');
    await using three = await startInstance({ connectionString });
    three.signal('SIGSTOP');
    // Of what is still to come, every third is cancelled, if it is not too late.
    const cancelled = new Set<number>();
    for (const [id, n] of ids) if (n % 3 === 0 && (await sender.cancel(id))) cancelled.add(n);
    three.signal('SIGCONT');
    await expectHandled(
      pool,
      [...ids.values()].filter((n) => !cancelled.has(n)),
    );
  });

  it('a schedule ticks once for every second while instances are killed and stopped', async () => {
    await using db = await createTestDatabase();
    const { connectionString, pool } = db;
    await pool.query(handledTable);
    const plan = { connectionString, ticks: 'second' };
    await using one = await startInstance(plan);
    await using two = createClockwork({ connectionString, ticks: 'second' });
    await two.start();
    await untilHandled(pool, 2);
    one.signal('SIGKILL');
    await using three = await startInstance(plan);
    three.signal('SIGSTOP');
    await untilHandled(pool, (await handledIn(pool)).length + 3);
    three.signal('SIGCONT');
    await untilHandled(pool, (await handledIn(pool)).length + 2);
    await expectTicks(pool, 'second');
  });

  it('a PostgreSQL that crashes costs no timer', async () => {
    await using server = await startEmbeddedPostgres({ tempDir: memoryFolder() });
    const { connectionString } = server;
    await migrate({ connectionString });
    const pool = new pg.Pool({ connectionString });
    pool.on('error', () => {});
    await pool.query(handledTable);
    await using one = createClockwork({ connectionString });
    await using two = createClockwork({ connectionString });
    const ids = await remind(one, 100, 4, Date.now() + 500);
    await Promise.all([one.start(), two.start()]);
    await untilHandled(pool, 10);
    await server.restart({ crash: true });
    await expectHandled(pool, [...ids.values()]);
    await Promise.all([one.stop(), two.stop()]);
    await pool.end();
  });
});

describe.skipIf(!clockCanBeStepped)(`Timers and steps of PostgreSQL's clock${orWhyNot}`, () => {
  it('a timer follows the clock of PostgreSQL, forward and back', async () => {
    await using server = await startSteppingServer();
    const { connectionString } = server;
    await migrate({ connectionString });
    const pool = new pg.Pool({ connectionString });
    pool.on('error', () => {});
    await pool.query(handledTable);
    await using instance = createClockwork({ connectionString, ticks: 'minute' });
    await instance.start();
    const send = (n: number, hours: number) => {
      const due = new Date(Date.now() + hours * 3_600_000);
      return instance.send(Remind({ stream: 's', due: due.toISOString(), n }), { at: due });
    };
    await send(1, 1);
    await send(2, 2);
    const reminded = async () => (await handledIn(pool)).filter(({ stream }) => stream === 's');
    const ticked = async () => (await handledIn(pool)).length - (await reminded()).length;
    await server.step(3_660);
    await eventually(async () => expect((await reminded()).map(({ n }) => n)).toEqual([1]));
    await server.step(-3_600);
    await send(3, 0);
    await server.step(7_260);
    await eventually(async () => expect((await reminded()).map(({ n }) => n)).toEqual([1, 3, 2]));
    expect((await reminded()).filter(({ due, handled_at }) => handled_at < due)).toEqual([]);
    // Two hours of minutes are caught up on, each once, whatever the clock did.
    await eventually(async () => expect(await ticked()).toBeGreaterThan(115));
    await instance.stop();
    await expectTicks(pool, 'minute');
    await pool.end();
  });
});
