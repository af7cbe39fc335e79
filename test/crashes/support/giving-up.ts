import type pg from 'pg';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  createWhizbang,
  defineCommand,
  defineEvent,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { eventually } from '../../support/eventually.js';
import type { Accident } from './accident.js';
import { shortLeases } from './shop.js';

/** What a process of these tests is told to be. */
export interface GivingUpPlan {
  readonly connectionString: string;
  readonly name: string;
  readonly accident?: Accident;
}

const schema = z.object({ orderId: z.string() });
const stream = ({ orderId }: { readonly orderId: string }) => orderId;
const ChargeCard = defineCommand('ChargeCard', { schema, stream, to: 'cashier' });
const ChargeFailed = defineEvent('ChargeFailed', { schema, stream });

/** Without any constraint that could hide a second row. */
export const refundsTable = 'create table refunds (order_id text, what text, instance text)';
const insertRefund = 'insert into refunds values ($1, $2, $3)';

/** A service whose charges all fail, at the first attempt, without a transaction. */
export function createCashier(
  options: Partial<WhizbangOptions> & Pick<WhizbangOptions, 'pool' | 'connectionString'>,
  name: string,
): Whizbang {
  const charge = receptor(
    ChargeCard,
    {
      transaction: false,
      retry: { attempts: 1 },
      onGivenUp: async ({ orderId }, { tx }) => {
        await tx.query(insertRefund, [orderId, 'given up', name]);
        return ChargeFailed({ orderId });
      },
    },
    () => {
      throw new Error('no card');
    },
  );
  const failed = receptor(ChargeFailed, async ({ orderId }, { tx }) => {
    await tx.query(insertRefund, [orderId, 'told', name]);
  });
  return createWhizbang({
    service: 'cashier',
    logger: silentLogger,
    ...shortLeases,
    ...options,
    receptors: [charge, failed],
  } as WhizbangOptions);
}

export async function sendCharges(pool: pg.Pool, count: number): Promise<readonly string[]> {
  const orders = Array.from({ length: count }, (_, i) => `order-${i}`);
  const till = createWhizbang({ service: 'cashier', pool, logger: silentLogger });
  await till.send(orders.map((orderId) => ChargeCard({ orderId })));
  return orders;
}

/** Each charge is a dead letter, was given up once and told once, and nothing is left. */
export async function expectAllGivenUp(pool: pg.Pool, orders: readonly string[]): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query(
      `select count(*)::int as told from refunds where what = 'told' having count(*) >= $1`,
      [orders.length],
    );
    expect(rows).toHaveLength(1);
    expect((await pool.query('select 1 from wh_inbox union all select 1 from wh_outbox')).rows).toEqual([]);
  }, 30_000);
  const { rows } = await pool.query(`
    select order_id || ' ' || what as refund, count(*)::int as times from refunds group by 1
    union all select (event_data ->> 'orderId') || ' dead', count(*)::int from wh_dead_letters group by 1
    order by 1`);
  const expected = orders.flatMap((order) => ['dead', 'given up', 'told'].map((what) => `${order} ${what}`));
  expect(rows).toEqual(expected.toSorted().map((refund) => ({ refund, times: 1 })));
}
