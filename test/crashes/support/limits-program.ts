// An instance with a limit over all instances, as a process of its own. Each handler writes when it began and ended.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createWhizbang, receptor } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { Import } from '../../runtime/limits/service.js';

export interface LimitsPlan {
  readonly connectionString: string;
  readonly name: string;
  readonly concurrency?: number;
  readonly rate?: { readonly count: number; readonly perSeconds: number };
  readonly byTenant?: boolean;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as LimitsPlan;
const pool = new pg.Pool({ connectionString: plan.connectionString });
const onImport = receptor(
  Import,
  {
    transaction: false,
    concurrency: plan.concurrency,
    rate: plan.rate,
    across: 'instances',
    ...(plan.byTenant === true && { key: ({ tenant }) => tenant }),
  },
  async ({ tenant, n, ms }) => {
    const begin =
      'insert into spans (n, tenant, name, began) values ($1, $2, $3, clock_timestamp()) returning id';
    const { rows } = await pool.query(begin, [n, tenant, plan.name]);
    await pause(ms);
    await pool.query('update spans set ended = clock_timestamp() where id = $1', [rows[0].id]);
  },
);
const shop = createWhizbang({
  service: 'shop',
  connectionString: plan.connectionString,
  receptors: [onImport],
  leaseSeconds: 3,
  renewSeconds: 1,
  staleThresholdSeconds: 5,
  logger: silentLogger,
});
await shop.start();
process.send?.('started');
process.once('SIGTERM', () => void shop.stop().then(() => process.exit(0)));
