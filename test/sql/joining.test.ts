// A schema has one service: who begins to work for another one is refused, whoever comes first.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { type Instance, it } from '../support/work.js';

const register = ({ id }: Instance, name: string) => ({ id, name });
type Member = ReturnType<typeof register>;

const call = (db: TestDatabase, { id, name }: Member) =>
  db.pool.query(`select from process_work_batch($1, $2, 'here', 7)`, [id, name]);
const join = (db: Pick<TestDatabase['pool'], 'query'>, { id }: Member) =>
  db.query('select wh_join_service($1)', [id]);
const taken = { code: 'WB005', message: expect.stringContaining('"shop", which runs on here as process 7') };

describe('Joining', () => {
  it('any number of instances of one service may join, and join again', async ({ db, a, b }) => {
    for (const each of [register(a, 'shop'), register(b, 'shop')]) {
      await call(db, each);
      await join(db.pool, each);
      await join(db.pool, each);
    }
  });

  it('an instance cannot join beside a living instance of another service', async ({ db, a, b }) => {
    const [shop, other] = [register(a, 'shop'), register(b, 'billing')];
    for (const each of [shop, other]) await call(db, each);
    await join(db.pool, shop);
    await expect(join(db.pool, other)).rejects.toMatchObject(taken);
    await join(db.pool, shop);
  });

  it('a sender under another name does not keep a service from joining', async ({ db, a, b }) => {
    const [shop, sender] = [register(a, 'shop'), register(b, 'web')];
    for (const each of [sender, shop]) await call(db, each);
    await join(db.pool, shop);
    await call(db, sender);
  });

  it('a renamed service may join once the instances of its old name are gone or stale', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [one, two, renamed] = [register(a, 'shop'), register(b, 'shop'), register(c, 'store')];
    for (const each of [one, two, renamed]) await call(db, each);
    for (const each of [one, two]) await join(db.pool, each);
    await db.pool.query('select deregister_instance($1)', [one.id]);
    await expect(join(db.pool, renamed)).rejects.toMatchObject(taken);
    await db.pool.query(
      `update wh_service_instances set last_heartbeat_at = last_heartbeat_at - interval '1 day' where instance_id = $1`,
      [two.id],
    );
    await join(db.pool, renamed);
  });

  it('an instance that listens has joined again after its removal as stale and its next call', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [shop, sender, other] = [register(a, 'shop'), register(b, 'web'), register(c, 'billing')];
    await call(db, shop);
    await join(db.pool, shop);
    await db.pool.query(`select wh_subscribe($1, array['shop'])`, [shop.id]);
    await db.pool.query(
      `update wh_service_instances set last_heartbeat_at = last_heartbeat_at - interval '1 day'`,
    );
    await call(db, sender);
    const registered = async () =>
      (await db.pool.query('select service_name, has_joined from wh_service_instances order by 1')).rows;
    expect(await registered()).toEqual([{ service_name: 'web', has_joined: false }]);
    await call(db, shop);
    expect(await registered()).toEqual([
      { service_name: 'shop', has_joined: true },
      { service_name: 'web', has_joined: false },
    ]);
    await call(db, other);
    await expect(join(db.pool, other)).rejects.toMatchObject(taken);
  });

  it('a deregistered instance keeps no other service out, even if it calls again', async ({ db, a, b }) => {
    const [shop, other] = [register(a, 'shop'), register(b, 'billing')];
    await call(db, shop);
    await join(db.pool, shop);
    await db.pool.query(`select wh_subscribe($1, array['shop'])`, [shop.id]);
    await db.pool.query('select deregister_instance($1)', [shop.id]);
    for (const each of [shop, other]) await call(db, each);
    await join(db.pool, other);
  });

  it('the first of two services that join at once is let in, the second refused', async ({ db, a, b }) => {
    const [shop, other] = [register(a, 'shop'), register(b, 'billing')];
    for (const each of [shop, other]) await call(db, each);
    const [first, second] = [await openSession(db), await openSession(db)];
    await first.client.query('begin');
    await join(first.client, shop);
    const refused = expect(join(second.client, other)).rejects.toMatchObject(taken);
    await waitUntilBlocked(db, second.pid);
    await first.client.query('commit');
    await refused;
  });

  it('an instance that is not registered cannot join', async ({ db, a }) => {
    const unknown = register(a, 'shop');
    await expect(join(db.pool, unknown)).rejects.toMatchObject({ code: 'WB001', column: 'p_instance_id' });
    await expect(db.pool.query('select wh_join_service(null)')).rejects.toMatchObject({ code: 'WB001' });
  });
});
