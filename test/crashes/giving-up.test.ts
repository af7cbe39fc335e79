import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { endLeases } from './support/end-leases.js';
import {
  createCashier,
  expectAllGivenUp,
  type GivingUpPlan,
  refundsTable,
  sendCharges,
} from './support/giving-up.js';
import { startProgram } from './support/process.js';

const program = new URL('support/giving-up-program.ts', import.meta.url);
const steps = ['begun', 'handled', 'settled', 'committed'];

describe.concurrent('A process that gives messages up', () => {
  it.each(steps)(
    'messages are given up once when a process is killed at the step "%s" of onGivenUp',
    async (step) => {
      await using db = await createTestDatabase();
      await db.pool.query(refundsTable);
      const { connectionString } = db;
      const accident = { step, nth: 2, signal: 'SIGKILL' } as const;
      await using victim = await startProgram<GivingUpPlan>(program, {
        connectionString,
        name: 'victim',
        accident,
      });
      const orders = await sendCharges(db.pool, 4);
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(db.pool);
      await using survivor = createCashier({ connectionString }, 'survivor');
      await survivor.start();
      await expectAllGivenUp(db.pool, orders);
    },
  );

  it.each(['begun', 'handled', 'settled'])(
    'messages are given up once when a process stands still at the step "%s" of onGivenUp and wakes late',
    async (step) => {
      await using db = await createTestDatabase();
      await db.pool.query(refundsTable);
      const { connectionString } = db;
      const accident = { step, nth: 2, signal: 'SIGSTOP' } as const;
      await using stalled = await startProgram<GivingUpPlan>(program, {
        connectionString,
        name: 'stalled',
        accident,
      });
      const orders = await sendCharges(db.pool, 4);
      await stalled.untilStopped();
      await using other = createCashier({ connectionString }, 'other');
      await other.start();
      await expectAllGivenUp(db.pool, orders);
      stalled.signal('SIGCONT');
      stalled.signal('SIGTERM');
      expect(await stalled.ended).toBe(0);
      await expectAllGivenUp(db.pool, orders);
    },
  );

  it('messages are given up once by several instances that race for them while leases keep ending', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(refundsTable);
    const { connectionString } = db;
    await using a = createCashier({ connectionString }, 'a');
    await using b = createCashier({ connectionString }, 'b');
    await Promise.all([a.start(), b.start()]);
    const orders = await sendCharges(db.pool, 100);
    for (let i = 0; i < 20; i++) await endLeases(db.pool);
    await expectAllGivenUp(db.pool, orders);
  });
});
