// What only this schema listens to goes straight to its inbox, in a call (flag Direct) and in an application's transaction (wh_send), and
// overtakes nothing that leaves by the outbox.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Flags, ids, message, type NewMessage, Status, stream, type WorkRow } from '../support/work.js';
import { emptySchemas, migrateSchemas, Service } from './support/services.js';

const schemas = ['whizbang', 'billing'];
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
  await shop.subscribe('shop', 'news');
  await billing.subscribe('news');
});
afterAll(() => db.drop());

type Queryable = Pick<pg.Pool, 'query'>;
type Sent = NewMessage & { destination: string };

const to = (destination: string, ...messages: NewMessage[]): Sent[] =>
  messages.map((each) => ({ destination, ...each }));

async function call(
  messages: Sent[],
  more: Record<`p_${string}`, unknown> = {},
  over: Queryable = db.pool,
): Promise<WorkRow[]> {
  const given = {
    p_instance_id: shop.instanceId,
    p_flags: Flags.Direct,
    p_new_outbox_messages: messages,
    ...more,
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  const { rows } = await over.query<WorkRow>(
    `select * from process_work_batch(${names.map((name, i) => `${name} => $${i + 1}`).join(', ')},
       p_service_name => 's', p_host_name => 'h', p_process_id => 1)`,
    names.map((name) => (Array.isArray(given[name]) ? JSON.stringify(given[name]) : given[name])),
  );
  return rows;
}

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };

const send = (messages: Sent[], over: Queryable = db.pool) =>
  over.query('select wh_send($1)', [JSON.stringify(messages)]);

/** Each way in which a service sends. */
const ways: [string, (messages: Sent[]) => Promise<unknown>][] = [
  ['in a call', (messages) => call(messages)],
  ['in a call without room', (messages) => call(messages, noRoom)],
  ['in an application’s transaction', (messages) => send(messages)],
  [
    'with the completion of the message that caused it',
    async (messages) => {
      const cause = message();
      await call(to('shop', cause), { p_max_outbox_items: 0 });
      const done = { message_id: cause.message_id, status: Status.EventStored };
      await call(messages, { ...noRoom, p_inbox_completions: [done] });
    },
  ],
];

const events = async () =>
  (await db.pool.query('select event_id as message_id from wh_event_store order by stream_id, version')).rows;

describe.each(ways)('Messages sent %s', (_, sends) => {
  it('a message that only this schema listens to goes to its inbox, under its handler’s name', async () => {
    const [sent] = to('shop', message({ stream_id: randomUUID(), metadata: { a: 1 } }));
    await sends([sent as Sent]);
    expect(await shop.outbox()).toEqual([]);
    expect(await shop.inbox()).toMatchObject([
      { message_id: sent?.message_id, handler_name: sent?.event_type, metadata: { a: 1 } },
    ]);
  });

  it.each([
    ['another schema listens too', 'news'],
    ['nobody listens', 'nowhere'],
  ])('a message goes to the outbox when %s', async (__, address) => {
    const sent = to(address, message({ stream_id: randomUUID() }));
    await sends(sent);
    expect(await shop.outbox()).toEqual(ids(sent));
    expect(await shop.inbox()).toEqual([]);
  });

  it('a message behind a leaving one of its stream goes to the outbox, one before to the inbox', async () => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    const other = message({ stream_id: randomUUID() });
    await sends([...to('shop', first), ...to('news', second), ...to('shop', third), ...to('shop', other)]);
    expect(ids(await shop.inbox())).toEqual(ids([first, other]));
    expect(await shop.outbox()).toEqual(ids([second, third]));
  });

  it.each([
    ['waits unadmitted', async () => {}],
    ['waits', async () => void (await call([], { p_max_inbox_items: 0, p_flags: 0 }))],
    [
      'waits for a retry',
      async () => {
        const [held] = await call([], { p_max_inbox_items: 0 });
        const failure = {
          message_id: held?.message_id,
          completed_status: 0,
          error: 'e',
          retry_after_seconds: 60,
        };
        await call([], { ...noRoom, p_outbox_failures: [failure] });
      },
    ],
  ])('a message goes to the outbox while another of its stream %s there', async (__, waits) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await send(to('news', first));
    await waits();
    await sends(to('shop', second));
    expect(await shop.outbox()).toEqual(ids([first, second]));
    expect(await shop.inbox()).toEqual([]);
  });

  it('a message for this schema is stored once, however often it is sent', async () => {
    const sent = to('shop', message({ stream_id: randomUUID() }));
    await sends(sent);
    await sends(sent);
    expect(ids(await shop.inbox())).toEqual(ids(sent));
  });

  it('sent events are appended to the event store in their order', async () => {
    const stream_id = randomUUID();
    const [a, b, c] = stream(3, { stream_id, is_event: true }) as [NewMessage, NewMessage, NewMessage];
    await sends(to('shop', a));
    await sends([...to('shop', b), ...to('news', c)]);
    for (let calls = 0; calls < 3; calls++) await call([]);
    expect(await events()).toEqual([a, b, c].map(({ message_id }) => ({ message_id })));
  });
});

describe('Messages sent straight to the inbox', () => {
  it('messages sent straight to the inbox are handed out by the same call', async () => {
    const sent = to('shop', ...stream(3));
    const rows = await call(sent);
    expect(ids(rows)).toEqual(ids(sent));
    expect(rows.every(({ source, flags }) => source === 'inbox' && (flags & Flags.NewlyStored) !== 0)).toBe(
      true,
    );
  });

  it('leaving messages take no room from those sent straight to the inbox', async () => {
    const leaving = to('news', message(), message());
    const own = to('shop', message(), message());
    const rows = await call([...leaving, ...own], { p_max_inbox_items: 2, p_max_outbox_items: 2 });
    expect(ids(rows).sort()).toEqual(ids([...leaving, ...own]).sort());
  });

  it('a message for this schema stays in the outbox without the flag Direct', async () => {
    const sent = to('shop', message());
    expect(await call(sent, { p_flags: 0 })).toMatchObject([{ source: 'outbox' }]);
  });

  it('an event sent straight to the inbox is appended at its expected version, or refused', async () => {
    const [first, second] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await call(to('shop', { ...first, expected_version: 0 }));
    await expect(call(to('shop', { ...second, expected_version: 0 }))).rejects.toMatchObject({
      code: 'WB002',
    });
    expect(await events()).toEqual([{ message_id: first.message_id }]);
  });

  it('a message sent straight to the inbox is gone after a rollback', async () => {
    const tx = await db.connect();
    await tx.query('begin');
    await send(to('shop', message()), tx);
    await tx.query('rollback');
    expect(await shop.inbox()).toEqual([]);
    expect((await db.pool.query('select from wh_message_deduplication')).rowCount).toBe(0);
  });

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'a message for this schema can be sent in a %s transaction',
    async (level) => {
      const tx = await db.connect();
      await tx.query(`begin isolation level ${level}`);
      const sent = to('shop', message());
      await send(sent, tx);
      await tx.query('commit');
      const source = level === 'read committed' ? 'inbox' : 'outbox'; // an older snapshot does not show what waits there
      expect(await call([])).toMatchObject([{ message_id: sent[0]?.message_id, source }]);
    },
  );

  it('a scheduled message sent straight to the inbox waits for its time', async () => {
    const sent = to('shop', message({ scheduled_for: new Date(Date.now() + 3_600_000).toISOString() }));
    await send(sent);
    expect(await call([])).toEqual([]);
  });

  it('wh_send refuses all messages when a field of one is bad, and names the field', async () => {
    const bad = { ...message(), destination: 'shop', stream_id: 'no uuid' };
    await expect(send([...to('shop', message()), bad as Sent])).rejects.toMatchObject({
      code: 'WB001',
      message: expect.stringContaining('stream_id'),
    });
    expect(await shop.inbox()).toEqual([]);
  });

  it('wh_send refuses an expected version, which only a call can check', async () => {
    const sent = to('shop', { ...message({ stream_id: randomUUID(), is_event: true }), expected_version: 0 });
    await expect(send(sent)).rejects.toMatchObject({ code: 'WB001' });
  });
});

describe('Events that leave', () => {
  it('a leaving event is neither appended nor handed out before an earlier one that waits in the inbox', async () => {
    const [own, leaving] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    // Somebody has the version row, so that the first stays unappended.
    const application = await db.connect();
    await application.query('begin');
    await application.query('insert into wh_event_streams values ($1, 0)', [own.stream_id]);
    await send(to('shop', own));
    expect(await call(to('news', leaving))).toEqual([]);
    await application.query('rollback');
    for (let calls = 0; calls < 3; calls++) await call([]);
    expect(await events()).toEqual([own, leaving].map(({ message_id }) => ({ message_id })));
  });

  it('a call without room does not append a leaving event before one that waits in the inbox', async () => {
    const [own, leaving] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await send(to('shop', own));
    expect(await call(to('news', leaving), noRoom)).toEqual([]);
    expect(await events()).toEqual([]);
    const rows = [...(await call([])), ...(await call([]))];
    expect(ids(rows).sort()).toEqual(ids([own, leaving]).sort());
    expect(await events()).toEqual([own, leaving].map(({ message_id }) => ({ message_id })));
  });

  it('a plainly inserted leaving event is not appended before an earlier one in the inbox', async () => {
    const [own, leaving] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await send(to('shop', own));
    await send(to('news', leaving));
    // Only the outbox is looked at.
    await call([], { p_max_inbox_items: 0 });
    for (let calls = 0; calls < 3; calls++) await call([]);
    expect(await events()).toEqual([own, leaving].map(({ message_id }) => ({ message_id })));
  });
});

describe('Messages that leave', () => {
  it('a leaving event does not wait for room in the inbox, where an earlier one is unappended', async () => {
    const [own, leaving] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await send(to('shop', own));
    await send(to('news', leaving));
    const room = { p_max_inbox_items: 0, p_max_outbox_items: 100 };
    expect(ids([...(await call([], room)), ...(await call([], room))])).toEqual(ids([leaving]));
    expect(await events()).toEqual([own, leaving].map(({ message_id }) => ({ message_id })));
    expect(ids(await call([]))).toEqual(ids([own]));
  });

  it('a leaving event leases nothing in the inbox without room, though the caller holds the stream', async () => {
    const [held, own, next, leaving] = stream(4, { is_event: true }) as [
      NewMessage,
      NewMessage,
      NewMessage,
      NewMessage,
    ];
    expect(ids(await call(to('shop', held)))).toEqual(ids([held]));
    await send(to('shop', own));
    const rows = await call(to('news', leaving), {
      p_max_inbox_items: 0,
      p_inbox_completions: [{ message_id: held.message_id, status: Status.EventStored }],
      p_new_inbox_messages: [{ handler_name: 'h', ...next }],
    });
    expect(rows.filter(({ source }) => source === 'inbox')).toEqual([]);
    expect(ids((await call([])).filter(({ source }) => source === 'inbox'))).toEqual(ids([own, next]));
  });

  it('a leaving event does not wait behind thousands of messages in the inbox', async () => {
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data)
       select gen_random_uuid(), 'h', 'h', '{}' from generate_series(1, 3000)`,
    );
    const [own, leaving] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await send(to('shop', own));
    await send(to('news', leaving));
    const rows = [
      ...(await call([], { p_max_inbox_items: 10 })),
      ...(await call([], { p_max_inbox_items: 10 })),
    ];
    expect(ids(rows.filter(({ source }) => source === 'outbox'))).toEqual(ids([leaving]));
  });

  it('a message leaves though the same id arrives in the inbox with the same call', async () => {
    const both = message();
    const received = [{ handler_name: 'h', ...both }];
    await call([...to('news', both), ...to('shop', message())], { p_new_inbox_messages: received });
    expect(await shop.outbox()).toEqual(ids([both]));
    expect(await shop.inbox()).toHaveLength(2);
  });

  it('a message sent from an older snapshot goes to the outbox, behind what the snapshot does not show', async () => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    const tx = await db.connect();
    await tx.query('begin isolation level repeatable read; select from wh_lanes');
    await send(to('news', first));
    await billing.subscribe('news', 'shop');
    await send(to('shop', second), tx);
    await tx.query('commit');
    expect(await shop.outbox()).toEqual(ids([first, second]));
  });
});

it('a schema whose name needs quotes can send to itself', async () => {
  const schema = 'My Shop';
  await migrateSchemas(db, [schema]);
  await db.pool.query(`select "${schema}".wh_subscribe(gen_random_uuid(), array['mine'])`);
  await db.pool.query(`select "${schema}".wh_send($1)`, [JSON.stringify(to('mine', message()))]);
  expect((await db.pool.query(`select from "${schema}".wh_inbox`)).rowCount).toBe(1);
  await db.pool.query(`drop schema "${schema}" cascade`);
});

it('a call does not run the wh_listens of a schema with another owner', async () => {
  await db.pool.query(`
      create role stranger; create schema evil authorization stranger; set role stranger;
      grant usage on schema evil to public;
      create table evil.log (who text); grant insert on evil.log to public;
      create function evil.wh_receive(jsonb) returns int language sql security definer as 'select 0';
      create function evil.wh_listens(text[]) returns text[] language plpgsql security definer
        as $$ begin insert into evil.log values (current_user); return '{}'; end $$;
      reset role`);
  const sent = to('shop', message());
  await call(sent, noRoom);
  expect((await db.pool.query('select * from evil.log')).rows).toEqual([]);
  expect(await shop.outbox()).toEqual(ids(sent));
  await db.pool.query('drop schema evil cascade; drop role stranger');
});

it('a schema that only the caller may deliver to counts as listening', async () => {
  await db.pool.query(`
      create role other_owner; create role app login;
      create schema tickets authorization other_owner;
      create function tickets.wh_receive(jsonb) returns int language sql security definer as 'select 0';
      alter function tickets.wh_receive owner to other_owner;
      revoke all on function tickets.wh_receive from public;
      grant usage on schema tickets to app; grant execute on function tickets.wh_receive to app;
      create role owner_of_public nosuperuser;
      grant all on schema whizbang to owner_of_public; grant all on all tables in schema whizbang to owner_of_public;
      grant all on all sequences in schema whizbang to owner_of_public; grant usage on schema whizbang to app`);
  try {
    const { rows } = await db.pool.query(
      `select p.oid::regprocedure::text as name from pg_proc p where pronamespace = 'whizbang'::regnamespace and proname ~ '^(wh_|process_)'`,
    );
    for (const { name } of rows) await db.pool.query(`alter function ${name} owner to owner_of_public`);
    await db.pool.query('grant execute on function process_work_batch, wh_send to app');
    const client = await db.connect();
    await client.query('set role app');
    const sent = to('shop', message());
    await call(sent, noRoom, client);
    await send(to('shop', message()), client);
    await client.query('reset role');
    expect(await shop.inbox()).toEqual([]);
    expect(await shop.outbox()).toHaveLength(2);
  } finally {
    await db.pool.query('drop schema tickets cascade');
  }
});
