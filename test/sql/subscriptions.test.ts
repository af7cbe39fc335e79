// The newest start of a service says what it receives; while nobody starts, nothing is forgotten.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { type Instance, it } from '../support/work.js';

const subscribe = async (db: TestDatabase, { id }: Instance, ...addresses: string[]) => {
  const { rows } = await db.pool.query('select wh_subscribe($1, $2) as addresses', [id, addresses]);
  return (rows[0] as { addresses: number }).addresses;
};
const subscribed = async (db: TestDatabase) => {
  const { rows } = await db.pool.query('select distinct address from wh_subscriptions order by 1');
  return rows.map(({ address }) => address as string);
};
const goodbye = (db: TestDatabase, { id }: Instance) => db.pool.query('select deregister_instance($1)', [id]);

describe('Subscriptions', () => {
  it('an instance is subscribed to exactly the addresses that it named last', async ({ db, a }) => {
    expect(await subscribe(db, a, 'orders', 'OrderPaid', 'orders')).toBe(2);
    expect(await subscribed(db)).toEqual(['OrderPaid', 'orders']);
    expect(await subscribe(db, a, 'OrderSent', 'orders')).toBe(2);
    expect(await subscribed(db)).toEqual(['OrderSent', 'orders']);
    expect(await subscribe(db, a)).toBe(0);
    expect(await subscribed(db)).toEqual([]);
  });

  it('a subscription of a living instance stays when another instance subscribes', async ({ db, a, b }) => {
    await a.call();
    await subscribe(db, a, 'old');
    await subscribe(db, b, 'new');
    expect(await subscribed(db)).toEqual(['new', 'old']);
  });

  it('subscriptions stay when all instances are gone, until the next one starts', async ({ db, a, b }) => {
    await a.call();
    await subscribe(db, a, 'kept', 'old');
    await goodbye(db, a);
    expect(await subscribed(db)).toEqual(['kept', 'old']);
    await subscribe(db, b, 'kept', 'new');
    expect(await subscribed(db)).toEqual(['kept', 'new']);
  });

  it('the next start removes the old subscription of an instance that is not registered', async ({
    db,
    a,
    b,
  }) => {
    await subscribe(db, a, 'old');
    await db.pool.query(`update wh_subscriptions set subscribed_at = now() - interval '2 minutes'`);
    await subscribe(db, b, 'new');
    expect(await subscribed(db)).toEqual(['new']);
  });

  it('a subscription of an instance that just started and has not called yet stays', async ({ db, a, b }) => {
    await subscribe(db, a, 'mine');
    await subscribe(db, b, 'yours');
    expect(await subscribed(db)).toEqual(['mine', 'yours']);
  });

  it('a subscription that is made again after a deregistration stays', async ({ db, a, b }) => {
    await subscribe(db, a, 'orders');
    await goodbye(db, a);
    await subscribe(db, a, 'orders');
    await subscribe(db, b, 'other');
    expect(await subscribed(db)).toEqual(['orders', 'other']);
  });

  it.for([
    ['p_instance_id', null, ['a']],
    ['p_addresses', '0190aaaa-0000-7000-8000-00000000000a', null],
    ['p_addresses[1]', '0190aaaa-0000-7000-8000-00000000000a', ['a', null]],
  ] as const)('a subscription with a bad %s is refused', async ([field, id, addresses], { db }) => {
    await expect(
      db.pool.query('select wh_subscribe($1, $2)', [id, addresses === null ? null : [...addresses]]),
    ).rejects.toMatchObject({ code: 'WB001', column: field });
    expect(await subscribed(db)).toEqual([]);
  });
});
