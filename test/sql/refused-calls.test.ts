import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { contents, type Instance, it, lanes, message, outbox, type Parameters } from '../support/work.js';

async function expectRefusal(db: TestDatabase, a: Instance, parameters: Parameters, field: string) {
  const before = await contents(db);
  const raised = await a.call(outbox.stores(message()), parameters).then(
    () => ({ code: 'not refused' }),
    (error: unknown) => error,
  );
  expect(raised).toMatchObject({
    code: 'WB001',
    column: field,
    message: expect.stringContaining(field),
    hint: expect.any(String),
  });
  expect(await contents(db)).toEqual(before);
}

const refused: [keyof Parameters, unknown][] = [
  ['p_instance_id', null],
  ['p_service_name', null],
  ['p_service_name', ''],
  ['p_host_name', null],
  ['p_process_id', null],
  ['p_flags', null],
  ['p_flags', -1],
  ['p_partition_count', null],
  ['p_partition_count', 0],
  ['p_partition_count', -1],
  ['p_max_partitions_per_instance', 0],
  ['p_max_partitions_per_instance', -1],
  ['p_lease_seconds', null],
  ['p_lease_seconds', 0],
  ['p_lease_seconds', -1],
  ['p_stale_threshold_seconds', null],
  ['p_stale_threshold_seconds', 0],
  ['p_stale_threshold_seconds', -1],
  ['p_max_outbox_items', null],
  ['p_max_outbox_items', -1],
  ['p_max_inbox_items', null],
  ['p_max_inbox_items', -1],
  ['p_max_perspective_items', null],
  ['p_max_perspective_items', -1],
  ['p_takeover_seconds', null],
  ['p_takeover_seconds', -0.1],
  ['p_takeover_seconds', 'NaN'],
  ['p_spare_outbox_streams', null],
  ['p_spare_outbox_streams', -1],
  ['p_spare_inbox_streams', null],
  ['p_spare_inbox_streams', -1],
];

describe('A call', () => {
  it('a call with a null among its handlers is refused and changes nothing', async ({ db, a }) => {
    await expectRefusal(db, a, { p_inbox_handlers: ['mine', null] }, 'p_inbox_handlers[1]');
  });

  it.for(refused)(
    'a call whose %s is %s is refused and changes nothing',
    async ([name, value], { db, a }) => {
      await expectRefusal(db, a, { [name]: value }, name);
    },
  );

  it.for([
    ['p_max_partitions_per_instance', null],
    ['p_max_partitions_per_instance', 2 ** 31 - 1],
    ['p_lease_seconds', 2 ** 31 - 1],
    ['p_stale_threshold_seconds', 2 ** 31 - 1],
    ['p_partition_count', 1],
    ['p_partition_count', 2 ** 31 - 1],
    ['p_max_outbox_items', 2 ** 31 - 1],
    ['p_max_inbox_items', 2 ** 31 - 1],
    ['p_takeover_seconds', 0],
    ['p_takeover_seconds', 1e15],
    ['p_takeover_seconds', 'Infinity'],
    ['p_spare_outbox_streams', 2 ** 31 - 1],
    ['p_process_id', 0],
    ['p_metadata', null],
  ] as const)('a call whose %s is %s is served', async ([name, value], { db, a }) => {
    await outbox.insertPlain(db.pool, message());
    expect(await a.call(outbox.stores(message()), { [name]: value })).toHaveLength(2);
  });

  it.for(['repeatable read', 'serializable'])(
    'a call in a %s transaction is refused',
    async (level, { db, a }) => {
      const client = await db.connect();
      await client.query(`begin isolation level ${level}`);
      await expect(a.over(client).call()).rejects.toMatchObject({
        code: 'WB003',
        hint: expect.stringContaining('READ COMMITTED'),
      });
      await client.query('rollback');
    },
  );

  it('a call that is refused for its last part has done nothing of its first', async ({ db, a }) => {
    const work = await a.call(outbox.stores(message(), message()));
    await expectRefusal(
      db,
      a,
      {
        ...outbox.completes(work),
        p_receptor_failures: [{ event_id: crypto.randomUUID(), receptor_name: 'x' }],
      },
      'p_receptor_failures[0].status',
    );
  });
});

describe.each(lanes)('Renewals in the %s', (lane) => {
  it('a null among the renewals is refused by its place', async ({ db, a }) => {
    const name = `p_renew_${lane.source}_lease_ids` as const;
    await expectRefusal(db, a, { [name]: [crypto.randomUUID(), null] }, `${name}[1]`);
  });

  it('renewals that are no ids are refused', async ({ db, a }) => {
    const before = await contents(db);
    await expect(a.call({ [`p_renew_${lane.source}_lease_ids`]: ['x'] })).rejects.toMatchObject({
      code: '22P02',
    });
    expect(await contents(db)).toEqual(before);
  });
});
