// Run as a process of its own by the tests of requests: one that asks and writes down its answers, or one that answers and
// may have an accident at a step of its transaction.
import pg from 'pg';
import type { Logger } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { accidentAt } from './accident.js';
import { createSums, createTill, Double, type RequestsPlan } from './requests.js';

const plan = JSON.parse(process.argv[2] as string) as RequestsPlan;
const pass = accidentAt(plan.accident);
const logger: Logger = {
  ...silentLogger,
  debug: (facts) => {
    const { step, type } = facts as { step?: string; type?: string };
    if (type === 'Double' && step !== undefined) pass(step);
  },
};
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
if (plan.role === 'sums') {
  await createSums(plan, { logger }).start();
  process.send?.('started');
} else {
  const pool = new pg.Pool({ connectionString: plan.connectionString });
  const till = createTill(plan);
  await till.start();
  process.send?.('started');
  const { asks = [] } = plan;
  await Promise.all(
    asks.map(async (n) => {
      const { twice } = await till.request(Double({ n }), { timeoutSeconds: 50 });
      await pool.query('insert into answers values ($1, $2, $3)', [n, twice, plan.name]);
    }),
  );
  await till.stop();
  await pool.end();
  process.exit(0);
}
