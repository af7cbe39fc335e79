import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { begin } from '../races/transactions.js';
import { openTestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { clockCanBeStepped, orWhyNot, startSteppingServer } from '../support/stepping-clock.js';
import { instance, message, outbox } from '../support/work.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

/** Much shorter than the step, or than the minute after which what was overlooked is looked for, and long for a busy machine. */
const patienceMs = 30_000;

/** Which streams are being handled, by any of the instances of this process. */
class Runs {
  readonly #running = new Map<string, number>();
  /** The messages that began while another of their stream had not ended. */
  readonly overlapping: string[] = [];

  readonly onRun = (step: number, orderId: string): void => {
    const running = this.#running.get(orderId) ?? 0;
    if (running > 0) this.overlapping.push(`${orderId}/${step}`);
    this.#running.set(orderId, running + 1);
  };

  readonly onRunEnd = (_: number, orderId: string): void => {
    this.#running.set(orderId, (this.#running.get(orderId) ?? 0) - 1);
  };
}

describe.skipIf(!clockCanBeStepped)(`A step of PostgreSQL's clock, under load${orWhyNot}`, () => {
  it.each([2, 10, 3600])(
    'a clock step of %i s back and forth again under load costs no message and no order',
    async (seconds) => {
      await using server = await startSteppingServer();
      const { connectionString } = server;
      await migrate({ connectionString });
      const pool = new pg.Pool({ connectionString });
      pool.on('error', () => {});
      const orders = await Orders.of(pool, 8);
      const runs = new Runs();
      const { onRun, onRunEnd } = runs;
      const shop = (name: string) =>
        createShop({ connectionString }, { name, handlerMs: 10, onRun, onRunEnd });
      await using one = shop('one');
      await using two = shop('two');
      await Promise.all([one.start(), two.start()]);
      const stepUnderLoad = async (offset: number) => {
        const handled = orders.effectCount;
        await orders.place(10);
        await orders.untilHandled(handled + (orders.effectCount - handled) / 4);
        await server.step(offset);
        await orders.place(10);
        await orders.expectFaultless(patienceMs);
      };
      await stepUnderLoad(-seconds);
      expect(runs.overlapping).toEqual([]);
      // Leases end early by the step: for a moment two may handle the same message, and one of them is refused.
      await stepUnderLoad(0);
      await pool.end();
    },
  );

  it('a call during which the clock goes back fails, and holds its lease when made again', async () => {
    await using server = await startSteppingServer();
    const { connectionString } = server;
    await migrate({ connectionString });
    const name = new URL(connectionString).pathname.slice(1);
    await using db = openTestDatabase(name, connectionString, async () => {});
    const a = instance(db, 'a');
    const [item] = await a.call(outbox.stores(message()));
    const locker = await begin(db);
    await locker.query('select from wh_active_streams for update');
    const reporting = await openSession(db);
    const report = outbox.completes(item === undefined ? [] : [item]);
    const called = a.over(reporting.client).call(report, outbox.stores(message()));
    called.catch(() => {});
    await waitUntilBlocked(db, reporting.pid);
    await server.step(-3600);
    await locker.query('rollback');
    await expect(called).rejects.toMatchObject({ code: '40001' });
    const [next] = await a.over(reporting.client).call(report, outbox.stores(message()));
    const { rows } = await db.pool.query(
      `select lease_expiry < clock_timestamp() + interval '301 seconds' as is_of_this_clock from wh_outbox where message_id = $1`,
      [next?.message_id],
    );
    expect(rows).toEqual([{ is_of_this_clock: true }]);
  });
});
