// Run as a process of its own by the tests of giving up: one instance whose charges all fail, and which may have an
// accident at a step of the transaction in which they are given up.
import pg from 'pg';
import type { Logger } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { accidentAt } from './accident.js';
import { createCashier, type GivingUpPlan } from './giving-up.js';

const plan = JSON.parse(process.argv[2] as string) as GivingUpPlan;
const pass = accidentAt(plan.accident);
const logger: Logger = {
  ...silentLogger,
  debug: (facts) => {
    const { step, type } = facts as { step?: string; type?: string };
    if (type === 'ChargeCard' && step !== undefined) pass(step);
  },
};
const pool = new pg.Pool({ connectionString: plan.connectionString, max: 12 });
const cashier = createCashier({ pool, logger }, plan.name);

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
process.on('SIGTERM', () => {
  void cashier
    .stop()
    .then(() => pool.end())
    .then(() => process.exit(0));
});
await cashier.start();
process.send?.('started');
