// A call that also sends: what it claims from the outbox goes to the inboxes of this database in the same transaction.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { begin } from '../races/transactions.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { listen } from '../support/listener.js';
import { Flags, ids, message, type NewMessage, stream, type WorkRow } from '../support/work.js';
import { emptySchemas, migrateSchemas, Service } from './services.js';

const schemas = ['public', 'billing'];
let db: TestDatabase;
let shop: Service;
let billing: Service;

beforeAll(async () => {
  db = await createTestDatabase();
  await migrateSchemas(db, schemas.slice(1));
});
beforeEach(async () => {
  await emptySchemas(db, schemas);
  [shop, billing] = schemas.map((schema) => new Service(schema, db.pool)) as [Service, Service];
});
afterAll(() => db.drop());

type Queryable = Pick<TestDatabase['pool'], 'query'>;

async function call(
  parameters: Record<`p_${string}`, unknown> = {},
  connection: Queryable = db.pool,
): Promise<WorkRow[]> {
  const given = { p_instance_id: shop.instanceId, ...parameters };
  const names = Object.keys(given) as (keyof typeof given)[];
  const { rows } = await connection.query<WorkRow>(
    `select * from wh_process_and_transfer(${names.map((name, i) => `${name} => $${i + 1}`).join(', ')},
       p_service_name => 's', p_host_name => 'h', p_process_id => 1)`,
    names.map((name) => (Array.isArray(given[name]) ? JSON.stringify(given[name]) : given[name])),
  );
  return rows;
}

/** Ended with the test, so that one that fails does not keep the next ones waiting. */
async function beginning() {
  const session = await begin(db);
  onTestFinished(() => session.client.end());
  return session;
}

const to = (destination: string, ...messages: NewMessage[]) => ({
  p_new_outbox_messages: messages.map((each) => ({ destination, ...each })),
});
const insertPlain = (destination: string, ...messages: NewMessage[]) =>
  db.pool.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id)
     select message_id, $2, event_type, event_data, stream_id
     from jsonb_to_recordset($1) as x(message_id uuid, event_type text, event_data jsonb, stream_id uuid)`,
    [JSON.stringify(messages), destination],
  );
const gone = (rows: readonly WorkRow[]) =>
  ids(rows.filter((row) => row.source === 'outbox' && row.lease_expiry === null));
const handedOut = (source: string, rows: readonly WorkRow[]) =>
  ids(rows.filter((row) => row.source === source && row.lease_expiry !== null));

describe('A call that also sends', () => {
  it('takes what process_work_batch takes, and gives what it gives', async () => {
    const { rows } = await db.pool.query(
      `select distinct pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc
       where proname in ('process_work_batch', 'wh_process_and_transfer') and pronamespace = 'public'::regnamespace`,
    );
    expect(rows).toHaveLength(1);
  });

  it('hands out at once what comes back to its own schema, in the order of its stream', async () => {
    await shop.subscribe('shop');
    const sent = stream(4);
    await insertPlain('shop', ...sent);
    const rows = await call();
    expect(gone(rows)).toEqual(ids(sent));
    expect(handedOut('inbox', rows)).toEqual(ids(sent));
    expect(rows.at(-1)).toMatchObject({ source: 'inbox', event_data: sent.at(-1)?.event_data });
    expect(await call()).toEqual([]);
  });

  it('takes no more of it than there is room for, what it has handed out before included', async () => {
    await shop.subscribe('shop');
    const [waiting, ...sent] = [message(), message(), message(), message()];
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data) values ($1, 'h', 't', '{}')`,
      [waiting?.message_id],
    );
    await insertPlain('shop', ...sent);
    const rows = await call({ p_max_inbox_items: 2 });
    expect(gone(rows)).toHaveLength(3);
    expect(handedOut('inbox', rows)).toHaveLength(2);
    expect(handedOut('inbox', await call())).toHaveLength(2);
  });

  it('sends what it stores', async () => {
    await shop.subscribe('shop');
    const sent = [message(), ...stream(2)];
    const rows = await call(to('shop', ...sent));
    expect(gone(rows).sort()).toEqual(ids(sent).sort());
    expect(handedOut('inbox', rows).sort()).toEqual(ids(sent).sort());
    expect(await shop.outbox()).toEqual([]);
  });

  it('is done with an event that nobody listens to', async () => {
    const sent = message();
    expect(gone(await call(to('nobody', sent)))).toEqual([sent.message_id]);
    expect(await shop.outbox()).toEqual([]);
    expect(await shop.inbox()).toEqual([]);
  });

  it('of which nothing is committed has sent nothing', async () => {
    await shop.subscribe('shop');
    const sent = stream(2);
    await insertPlain('shop', ...sent);
    const client = await beginning();
    expect(gone(await call({}, client))).toEqual(ids(sent));
    await client.query('rollback');
    expect(await shop.inbox()).toEqual([]);
    expect(handedOut('inbox', await call())).toEqual(ids(sent));
  });

  it('tells what its reports have lost, also of a message that it sends', async () => {
    await shop.subscribe('shop');
    const [sent, foreign] = [message(), randomUUID()];
    await insertPlain('shop', sent);
    const reported = [foreign, sent.message_id];
    const rows = await call({
      p_outbox_completions: reported.map((message_id) => ({ message_id, status: 4 })),
    });
    expect(ids(rows.filter(({ flags }) => flags & Flags.LeaseLost)).sort()).toEqual(reported.sort());
    expect(handedOut('inbox', rows)).toEqual([sent.message_id]);
  });

  it('that claims nothing from the outbox is process_work_batch', async () => {
    await shop.subscribe('shop');
    const sent = message();
    await insertPlain('shop', sent);
    expect(await call({ p_max_outbox_items: 0 })).toEqual([]);
    expect(await shop.outbox()).toEqual([sent.message_id]);
  });
});

describe('A call hands out of the outbox', () => {
  it('what another schema listens to, with the rest of its stream, and sends the others', async () => {
    await shop.subscribe('shop');
    await billing.subscribe('orders');
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    const [alone, leaving] = [message(), message()];
    await insertPlain('shop', first);
    await insertPlain('orders', second, leaving);
    await insertPlain('shop', alone);
    const rows = await call();
    expect(handedOut('outbox', rows)).toEqual(ids([first, second, leaving]));
    expect(gone(rows)).toEqual([alone.message_id]);
    expect(handedOut('inbox', rows)).toEqual([alone.message_id]);
    expect(await billing.inbox()).toEqual([]);
  });

  it('what both listen to', async () => {
    for (const each of [shop, billing]) await each.subscribe('orders');
    const sent = message();
    expect(handedOut('outbox', await call(to('orders', sent)))).toEqual([sent.message_id]);
    await shop.transfer(sent);
    expect(await Promise.all([shop, billing].map(async (each) => ids(await each.inbox())))).toEqual([
      [sent.message_id],
      [sent.message_id],
    ]);
  });

  it('everything, when one of them is a command that nobody listens to', async () => {
    await shop.subscribe('shop');
    const sent = [message(), { ...message({ metadata: { kind: 'command' } }), destination: 'nobody' }];
    expect(handedOut('outbox', await call(to('shop', ...sent)))).toEqual(ids(sent));
    expect(await shop.inbox()).toEqual([]);
  });

  it('everything, when it is so big that the call would not be answered in time', async () => {
    await shop.subscribe('shop');
    const incompressible = randomBytes(1_000_000).toString('base64');
    const sent = [message(), message({ event_data: incompressible })];
    expect(handedOut('outbox', await call(to('shop', ...sent)))).toEqual(ids(sent));
    expect(await shop.inbox()).toEqual([]);
  });

  it.each([
    ['is locked', 'lock table billing.wh_subscriptions in access exclusive mode'],
    ['is broken', 'alter table billing.wh_subscriptions rename to gone'],
    ['may not be asked', 'alter function billing.wh_listens rename to gone'],
  ])('everything, while another schema %s', async (_, trouble) => {
    await shop.subscribe('shop');
    const sent = stream(2);
    const blocker = await beginning();
    await blocker.query(trouble);
    const isSeen = trouble.startsWith('lock') ? db.pool : blocker; // the others see it in the transaction of the trouble itself
    const rows = await call(to('shop', ...sent), isSeen);
    expect(handedOut('outbox', rows)).toEqual(ids(sent));
    if (isSeen === blocker) expect((await blocker.query('select from wh_inbox')).rows).toEqual([]);
    await blocker.query('rollback');
  });

  it('everything, while somebody keeps its inbox waiting', async () => {
    await shop.subscribe('shop');
    const sent = stream(2);
    await insertPlain('shop', ...sent);
    const blocker = await beginning();
    await blocker.query(`insert into wh_message_deduplication (message_id) values ($1)`, [
      sent[0]?.message_id,
    ]);
    const rows = await call();
    await blocker.query('rollback');
    expect(handedOut('outbox', rows)).toEqual(ids(sent));
    expect(await shop.inbox()).toEqual([]);
    await shop.transfer(...sent);
    expect(ids(await shop.inbox())).toEqual(ids(sent));
  });
});

describe('A call that also sends wakes', () => {
  it('nobody when it takes all that comes back', async () => {
    await shop.subscribe('shop');
    await insertPlain('shop', message(), message());
    const sleeper = await listen(db);
    expect(await sleeper.fallAsleep()).toBe('asleep');
    expect(handedOut('inbox', await call())).toHaveLength(2);
    expect(await sleeper.heard()).toBe(0);
  });

  it('who keeps the watch when somebody who is opening its stream keeps it from taking what came back', async () => {
    await shop.subscribe('shop');
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    const opener = await beginning();
    const stored = { p_new_inbox_messages: [{ ...first, handler_name: 'h' }] };
    expect(handedOut('inbox', await call({ p_instance_id: randomUUID(), ...stored }, opener))).toEqual([
      first.message_id,
    ]);
    await insertPlain('shop', second);
    const sleeper = await listen(db);
    expect(await sleeper.fallAsleep()).toBe('asleep');
    const rows = await call();
    expect(gone(rows)).toEqual([second.message_id]);
    expect(handedOut('inbox', rows)).toEqual([]);
    expect(await sleeper.heard()).toBeGreaterThan(0);
    await opener.query('commit');
  });

  it.each([{ p_max_inbox_items: 1 }, { p_max_inbox_items: 0 }, { p_inbox_handlers: '{other}' }])(
    'who keeps the watch when it leaves something that came back: %j',
    async (parameters) => {
      await shop.subscribe('shop');
      await insertPlain('shop', message(), message());
      const sleeper = await listen(db);
      expect(await sleeper.fallAsleep()).toBe('asleep');
      await call(parameters);
      expect(await sleeper.heard()).toBeGreaterThan(0);
    },
  );

  it('nobody less for a plain insert that follows in its transaction', async () => {
    await shop.subscribe('shop');
    await insertPlain('shop', message());
    const sleeper = await listen(db);
    expect(await sleeper.fallAsleep()).toBe('asleep');
    const client = await beginning();
    await call({}, client);
    await client.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data) values (gen_random_uuid(), 'h', 't', '{}')`,
    );
    await client.query('commit');
    expect(await sleeper.heard()).toBe(1);
  });
});
