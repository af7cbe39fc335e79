// Outbox to inbox between services that share a database: whole, once, in order, or not at all.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ids, message, stream, streams } from '../support/work.js';
import { emptySchemas, migrateSchemas, Service } from './support/services.js';

const schemas = ['whizbang', 'billing', 'mail'];
let db: TestDatabase;
let shop: Service;
let billing: Service;
let mail: Service;

beforeAll(async () => {
  db = await createTestDatabase();
  await migrateSchemas(db, schemas.slice(1));
});
beforeEach(async () => {
  await emptySchemas(db, schemas);
  [shop, billing, mail] = schemas.map((schema) => new Service(schema, db.pool)) as [
    Service,
    Service,
    Service,
  ];
});
afterAll(() => db.drop());

describe('A transfer', () => {
  it('a transfer delivers a message to the schema that subscribes to its address, and completes it', async () => {
    await billing.subscribe('orders');
    const sent = message({
      event_type: 'OrderPlaced',
      event_data: { total: 3 },
      metadata: { correlationId: 'c' },
      scope: { tenant: 't' },
      stream_id: randomUUID(),
    });
    await shop.holds('orders', sent);
    expect(await shop.transfer(sent)).toEqual({ settled: [sent.message_id], lost: [] });
    expect(await billing.inbox()).toMatchObject([
      {
        ...sent,
        handler_name: 'OrderPlaced',
        is_event: false,
        status: 1,
        attempts: 0,
        partition_number: null,
        instance_id: null,
      },
    ]);
    expect(await shop.outbox()).toEqual([]);
    expect([await shop.inbox(), await mail.inbox()]).toEqual([[], []]);
  });

  it('a transfer delivers a message to its own schema and to every other that subscribes', async () => {
    await shop.subscribe('orders');
    await billing.subscribe('other', 'orders');
    await mail.subscribe('other');
    const [sent] = await shop.holds('orders', message());
    await shop.transfer(...(sent ? [sent] : []));
    for (const receiver of [shop, billing]) expect(ids(await receiver.inbox())).toEqual([sent?.message_id]);
    expect(await mail.inbox()).toEqual([]);
  });

  it('a transfer of a command that nobody subscribes to is refused and changes nothing', async () => {
    await billing.subscribe('orders');
    const command = () => message({ metadata: { kind: 'command' } });
    const heard = await shop.holds('orders', command());
    const unheard = await shop.holds('warehouse', command());
    const refused = shop.transfer(...heard, ...unheard);
    await expect(refused).rejects.toMatchObject({
      code: 'WB004',
      message: 'no service listens to warehouse',
    });
    expect([await billing.inbox(), (await shop.outbox()).length]).toEqual([[], 2]);
    expect(await shop.transfer(...heard)).toEqual({ settled: ids(heard), lost: [] });
    await mail.subscribe('warehouse');
    expect(await shop.transfer(...unheard)).toEqual({ settled: ids(unheard), lost: [] });
    expect(ids(await mail.inbox())).toEqual(ids(unheard));
  });

  it('a schema that cannot say what it listens to counts as listening to a command', async () => {
    await db.pool.query(`
      create schema ancient;
      create function ancient.wh_receive(p jsonb) returns int language sql security definer as 'select 1'`);
    try {
      const sent = await shop.holds('warehouse', message({ metadata: { kind: 'command' } }));
      expect(await shop.transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    } finally {
      await db.pool.query('drop schema ancient cascade');
    }
  });

  it('a transfer completes a message that nobody subscribes to, if it is no command', async () => {
    const sent = await shop.holds('nobody', message());
    expect(await shop.transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    expect(await shop.outbox()).toEqual([]);
  });

  it('a transfer keeps the order of a stream, however its ids are given', async () => {
    await billing.subscribe('orders');
    const sent = await shop.holds('orders', ...stream(20), ...stream(20));
    await shop.transfer(...[...sent].reverse());
    expect(ids(await billing.inbox())).toEqual(ids(sent));
  });

  it('a transfer settles and delivers only messages that the instance holds', async () => {
    await billing.subscribe('orders');
    const held = await shop.holds('orders', message());
    const other = await new Service('whizbang', db.pool).holds('orders', message());
    const gone = [message()];
    const all = [...held, ...other, ...gone];
    expect(await shop.transfer(...all)).toEqual({ settled: ids(held), lost: ids([...other, ...gone]) });
    expect(ids(await billing.inbox())).toEqual(ids(held));
    expect(await shop.transfer(...gone)).toEqual({ settled: [], lost: ids(gone) });
    expect(await shop.transfer()).toEqual({ settled: [], lost: [] });
  });

  it('a transfer by an instance that lost its leases settles and delivers nothing', async () => {
    await billing.subscribe('orders');
    const sent = await shop.holds('orders', ...stream(2));
    await shop.losesEverything();
    expect(await shop.transfer(...sent)).toEqual({ settled: [], lost: ids(sent) });
    expect(await billing.inbox()).toEqual([]);
    expect(await shop.outbox()).toEqual(ids(sent));
  });

  it('a transfer completes a message that came before and does not store it again', async () => {
    await billing.subscribe('orders');
    const sent = await shop.holds('orders', ...streams(2));
    await shop.transfer(...sent);
    await db.pool.query('delete from billing.wh_inbox where message_id = $1', [sent[0]?.message_id]);
    await shop.holds('orders', ...sent);
    expect(await shop.transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    expect(ids(await billing.inbox())).toEqual([sent[1]?.message_id]);
  });

  it('a transfer completes a message that was plainly inserted into the inbox before', async () => {
    await billing.subscribe('orders');
    const sent = await shop.holds('orders', ...streams(2));
    await db.pool.query(
      `insert into billing.wh_inbox (message_id, handler_name, event_type, event_data) values ($1, 'h', 't', '{}')`,
      [sent[0]?.message_id],
    );
    expect(await shop.transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    expect(ids(await billing.inbox()).sort()).toEqual(ids(sent).sort());
  });

  it('a transfer delivers a message with null data and no metadata', async () => {
    await billing.subscribe('orders');
    const id = randomUUID();
    await db.pool.query(
      `insert into wh_outbox (message_id, destination, event_type, event_data, metadata)
       values ($1, 'orders', 't', 'null', null)`,
      [id],
    );
    await db.pool.query(`select from process_work_batch($1, 's', 'h', 1, p_takeover_seconds => 0)`, [
      shop.instanceId,
    ]);
    expect(await shop.transfer({ message_id: id })).toEqual({ settled: [id], lost: [] });
    expect(await billing.inbox()).toMatchObject([{ message_id: id, event_data: null, metadata: {} }]);
  });

  it('a transfer changes nothing when a receiver fails', async () => {
    await db.pool.query(`
      create schema zealous;
      create function zealous.wh_receive(p_messages jsonb) returns int language plpgsql security definer
      as $$ begin raise exception 'no'; end $$`);
    try {
      await billing.subscribe('orders');
      const sent = await shop.holds('orders', message());
      await expect(shop.transfer(...sent)).rejects.toThrow('no');
      expect([await billing.inbox(), await shop.outbox()]).toEqual([[], ids(sent)]);
    } finally {
      await db.pool.query('drop schema zealous cascade');
    }
  });

  it('a transfer needs nothing of a receiver but a wh_receive that takes JSON', async () => {
    await db.pool.query(`
      create schema ancient;
      create table ancient.got (messages jsonb);
      create function ancient.wh_receive(p jsonb) returns bigint language sql security definer
      as $$ insert into ancient.got values (p) returning 1::bigint $$;
      create function ancient.wh_receive(p text) returns int language sql as 'select 1 / 0';`);
    try {
      const [sent] = await shop.holds('orders', message());
      await shop.transfer(...(sent ? [sent] : []));
      const { rows } = await db.pool.query('select messages from ancient.got');
      expect(rows).toMatchObject([{ messages: [{ message_id: sent?.message_id, destination: 'orders' }] }]);
    } finally {
      await db.pool.query('drop schema ancient cascade');
    }
  });

  it('a transfer does not run a wh_receive that would run with the rights of the caller', async () => {
    await db.pool.query(`
      create schema trap;
      create function trap.wh_receive(p jsonb) returns int language sql as 'select 1 / 0'`);
    try {
      const sent = await shop.holds('orders', message());
      expect(await shop.transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    } finally {
      await db.pool.query('drop schema trap cascade');
    }
  });

  it.for([
    ['p_instance_id', [null, 's', 'h', 1, []]],
    ['p_service_name', [randomUUID(), '', 'h', 1, []]],
    ['p_message_ids[1]', [randomUUID(), 's', 'h', 1, [randomUUID(), null]]],
  ] as const)('a transfer with a bad %s is refused', async ([field, values]) => {
    await expect(
      db.pool.query('select * from wh_transfer($1, $2, $3, $4, $5)', [...values]),
    ).rejects.toMatchObject({ code: 'WB001', column: field });
  });
});

it('a role reaches only the schemas whose wh_receive it was granted', async () => {
  const role = `${db.name}_shop`;
  await db.pool.query(`
      create role ${role};
      grant usage on schema whizbang, billing to ${role};
      grant execute on function whizbang.process_work_batch, whizbang.wh_transfer, whizbang.wh_outgoing, whizbang.wh_receivers to ${role};
      grant execute on function billing.wh_receive to ${role}`);
  try {
    for (const receiver of [shop, billing, mail]) await receiver.subscribe('orders');
    const client = await db.connect();
    await client.query(`set role ${role}`);
    const sent = await shop.holds('orders', message());
    expect(await shop.over(client).transfer(...sent)).toEqual({ settled: ids(sent), lost: [] });
    expect(ids(await billing.inbox())).toEqual(ids(sent));
    expect([await shop.inbox(), await mail.inbox()]).toEqual([[], []]);
  } finally {
    await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});
