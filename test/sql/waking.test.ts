// A worker that sleeps is told of work for it, and nobody is told of anything while nobody sleeps.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { begin, noRoom } from '../races/transactions.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Listener, listen } from '../support/listener.js';
import { openSession } from '../support/sessions.js';
import { ids, inbox, it, lanes, message, outbox, stream, streamOwnedBy, streams } from '../support/work.js';

async function asleep(db: TestDatabase, schema?: string): Promise<Listener> {
  const listener = await listen(db, schema);
  expect(await listener.fallAsleep()).toBe('asleep');
  return listener;
}

async function covered(db: TestDatabase): Promise<Listener> {
  const listener = await listen(db);
  expect(await listener.fallAsleep()).toBe('covered');
  return listener;
}

describe.each(lanes)('Plain inserts into the %s', (lane) => {
  it('a plain insert notifies nobody while nobody sleeps', async ({ db }) => {
    const listener = await listen(db);
    await lane.insertPlain(db.pool, message());
    expect(await listener.heard()).toBe(0);
  });

  it('a plain insert wakes a sleeper at its commit, once per transaction', async ({ db }) => {
    const sleeper = await asleep(db);
    const writer = await begin(db);
    await lane.insertPlain(writer, message(), message());
    expect(await sleeper.heard()).toBe(0);
    await writer.query('commit');
    expect(await sleeper.heard()).toBe(1);
  });

  it('a plain insert that is rolled back wakes nobody', async ({ db }) => {
    const sleeper = await asleep(db);
    const writer = await begin(db);
    await lane.insertPlain(writer, message());
    await writer.query('rollback');
    expect(await sleeper.heard()).toBe(0);
  });

  it.for(['read committed', 'repeatable read', 'serializable'])(
    'a plain insert in a %s transaction wakes a sleeper that fell asleep after its snapshot',
    async (level, { db }) => {
      const writer = await begin(db);
      await writer.query(`set transaction isolation level ${level}`);
      await writer.query('select from wh_outbox');
      const sleeper = await asleep(db);
      await lane.insertPlain(writer, message());
      await writer.query('commit');
      expect(await sleeper.heard()).toBe(1);
    },
  );

  it('an insert from a query wakes a sleeper once, however many rows it has', async ({ db }) => {
    const sleeper = await asleep(db);
    await db.pool.query(
      `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data)
       select gen_random_uuid(), 'orders', 't', '{}' from generate_series(1, 500)`,
    );
    expect(await sleeper.heard()).toBe(1);
  });

  it('an insert by copy wakes a sleeper', async ({ db }) => {
    const sleeper = await asleep(db);
    const columns = `message_id, ${lane.target}, event_type, event_data`;
    await db.pool.query(
      `copy ${lane.table} (${columns}) from program 'echo "${randomUUID()},orders,t,{}"' csv`,
    );
    expect(await lane.rows(db)).toHaveLength(1);
    expect(await sleeper.heard()).toBe(1);
  });

  it('a role that may do nothing but insert wakes a sleeper', async ({ db }) => {
    const role = `${db.name}_writer`;
    await db.pool.query(
      `create role ${role}; grant usage on schema whizbang to ${role}; grant insert on ${lane.table} to ${role}`,
    );
    try {
      const sleeper = await asleep(db);
      const { client } = await openSession(db);
      await client.query(`set role ${role}; set search_path = ''`);
      await client.query(
        `insert into whizbang.${lane.table} (message_id, ${lane.target}, event_type, event_data) values ($1, 'o', 't', '{}')`,
        [randomUUID()],
      );
      expect(await sleeper.heard()).toBe(1);
    } finally {
      await db.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

describe.each(lanes)('Calls that store in the %s', (lane) => {
  it('a call that leases all that it stores wakes nobody', async ({ db, a }) => {
    const sleeper = await asleep(db);
    expect(await a.call(lane.stores(...streams(3), ...stream(3)))).toHaveLength(6);
    expect(await a.call(lane.stores(message()))).toHaveLength(1);
    expect(await sleeper.heard()).toBe(0);
  });

  it('a call that leaves a stored message to others wakes a sleeper, once', async ({ db, a }) => {
    const sleeper = await asleep(db);
    await a.call(outbox.stores(message()), inbox.stores(message()), lane.room(0));
    expect(await sleeper.heard()).toBe(1);
    await a.call(lane.stores(...streams(4)), lane.room(3));
    expect(await sleeper.heard()).toBe(1);
  });

  it('a plain insert wakes a sleeper also in a session that has stored through a call', async ({ db, a }) => {
    const sleeper = await asleep(db);
    const { client } = await openSession(db);
    await a.over(client).call(lane.stores(message()));
    await lane.insertPlain(client, message());
    expect(await sleeper.heard()).toBe(1);
  });

  it('a call that reports or only asks, and leaves nothing to others, wakes nobody', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    const sleeper = await asleep(db);
    await a.call(lane.completes(work.slice(1)), lane.renews(work.slice(0, 1)));
    await a.call(noRoom);
    expect(await sleeper.heard()).toBe(0);
  });
});

describe.each(lanes)('Calls that admit plain inserts into the %s', (lane) => {
  it('a call that admits a plain insert and leaves it to its owner wakes a sleeper', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await lane.insertPlain(db.pool, message({ stream_id: await streamOwnedBy(db, b) }));
    const sleeper = await asleep(db);
    expect(await a.call()).toEqual([]);
    expect(await sleeper.heard()).toBe(1);
  });

  it('a call that takes a plain insert, or keeps it for itself, wakes nobody', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    const own = await streamOwnedBy(db, a);
    const others = await streamOwnedBy(db, b);
    await lane.insertPlain(db.pool, ...[own, own, others].map((stream_id) => message({ stream_id })));
    const sleeper = await asleep(db);
    expect(await a.call(lane.room(2), { [`p_spare_${lane.source}_streams`]: 2 })).toHaveLength(2);
    expect(await sleeper.heard()).toBe(0);
  });
});

describe('Instances without a free place', () => {
  it('an instance without a free place passes the watch to a covered one, and notifies no other', async ({
    db,
  }) => {
    const [watch, ...others] = [await asleep(db), await covered(db), await covered(db)];
    expect(await watch.fallAsleep(false)).toBe('passed');
    const heard = await Promise.all(others.map((other) => other.heard()));
    expect([await watch.heard(), ...heard.sort()]).toEqual([0, 0, 1]);
    expect(await watch.wakeUp()).toBe(false);
    expect(await others[0]?.fallAsleep()).toBe('asleep');
  });

  it('an instance without a free place notifies a covered one when nobody keeps the watch', async ({
    db,
  }) => {
    const [watch, other, full] = [await asleep(db), await covered(db), await listen(db)];
    await watch.wakeUp();
    expect(await full.fallAsleep(false)).toBe('passed');
    expect([await other.heard(), await watch.heard()]).toEqual([1, 0]);
  });

  it('an instance without a free place notifies nobody while another one keeps the watch', async ({ db }) => {
    const [watch, other, full] = [await asleep(db), await covered(db), await covered(db)];
    expect(await full.fallAsleep(false)).toBe('passed');
    expect([await watch.heard(), await other.heard(), await full.wakeUp()]).toEqual([0, 0, false]);
  });

  it('an instance without a free place keeps the watch when nobody else could', async ({ db }) => {
    const [watch, awake] = [await asleep(db), await covered(db)];
    await awake.wakeUp();
    expect(await watch.fallAsleep(false)).toBe('asleep');
    await outbox.insertPlain(db.pool, message());
    expect(await watch.heard()).toBe(1);
  });
});

describe.each(lanes)('Reports on streams of the %s', (lane) => {
  it.for([
    ['with room', {}],
    ['without room', noRoom],
  ] as const)(
    'a report %s wakes a sleeper for what waits in a stream of another owner',
    async ([, room], { db, a, b }) => {
      for (const each of [a, b]) await each.call();
      const stream_id = await streamOwnedBy(db, b);
      const held = await a.call(lane.stores(message({ stream_id })));
      await lane.insertPlain(db.pool, message({ stream_id }));
      const sleeper = await asleep(db);
      expect(await a.call(lane.completes(held), room)).toEqual([]);
      expect(await sleeper.heard()).toBe(1);
    },
  );

  it('a report on a stream that its holder goes on with, or that ends, wakes nobody', async ({ db, a }) => {
    const [first, second] = stream(2);
    const held = await a.call(lane.stores(first ?? message()));
    await lane.insertPlain(db.pool, second ?? message());
    const sleeper = await asleep(db);
    const next = await a.call(lane.completes(held));
    expect(ids(next)).toEqual([second?.message_id]);
    await a.call(lane.completes(next), noRoom);
    expect(await sleeper.heard()).toBe(0);
  });
});

it('deregister_instance wakes a sleeper only when it frees something', async ({ db, a, b }) => {
  await a.call(outbox.stores(message()));
  await b.call();
  const sleeper = await asleep(db);
  await db.pool.query('select deregister_instance($1)', [b.id]);
  expect(await sleeper.heard()).toBe(0);
  await db.pool.query('select deregister_instance($1)', [a.id]);
  expect(await sleeper.heard()).toBe(1);
});

describe('Falling asleep', () => {
  it('a session that fell asleep twice is awake after it woke up once', async ({ db }) => {
    const worker = await asleep(db);
    expect(await worker.fallAsleep()).toBe('asleep');
    expect([await worker.wakeUp(), await worker.wakeUp()]).toEqual([true, false]);
    await outbox.insertPlain(db.pool, message());
    expect(await worker.heard()).toBe(0);
  });

  it('a session is covered while another one keeps the watch, until it wakes up', async ({ db }) => {
    const [watch, other] = [await asleep(db), await covered(db)];
    expect([await other.wakeUp(), await other.wakeUp()]).toEqual([true, false]);
    await watch.wakeUp();
    expect(await other.fallAsleep()).toBe('asleep');
  });

  it('a covered session takes the watch when nobody keeps it, and is covered no more', async ({ db }) => {
    const [watch, other] = [await asleep(db), await covered(db)];
    await watch.wakeUp();
    expect([await other.fallAsleep(), await other.fallAsleep()]).toEqual(['asleep', 'asleep']);
    expect(await watch.fallAsleep(false)).toBe('passed');
    expect(await other.heard()).toBe(0);
    expect([await other.wakeUp(), await other.wakeUp()]).toEqual([true, false]);
  });

  it('a session is told to wait while nobody sleeps and a writer is open', async ({ db }) => {
    const worker = await listen(db);
    const writer = await begin(db);
    await outbox.insertPlain(writer, message());
    expect(await worker.fallAsleep()).toBe('busy');
    await writer.query('commit');
    expect(await worker.fallAsleep()).toBe('asleep');
  });

  it('a sleeper is not notified of its own inserts', async ({ db }) => {
    const worker = await asleep(db);
    await outbox.insertPlain(worker.client, message());
    expect(await worker.heard()).toBe(0);
    await outbox.insertPlain(db.pool, message());
    expect(await worker.heard()).toBe(1);
  });

  it('a sleeper is not notified of inserts into another schema', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'other' });
    const [here, there] = [await asleep(db), await asleep(db, 'other')];
    await db.pool.query(
      `insert into other.wh_outbox (message_id, destination, event_type, event_data) values ($1, 'd', 't', '{}')`,
      [randomUUID()],
    );
    expect([await here.heard(), await there.heard()]).toEqual([0, 1]);
  });

  it('a schema with an unusual name has a channel that needs no quotes', async () => {
    await using db = await createTestDatabase();
    const schema = `Ünusual "${'x'.repeat(40)}`;
    await migrate({ pool: db.pool, schema });
    const quoted = `"${schema.replaceAll('"', '""')}"`;
    const { rows } = await db.pool.query(`select ${quoted}.wh_channel() as there, wh_channel() as here`);
    const { here, there } = rows[0] as { here: string; there: string };
    expect(there).toMatch(/^whizbang_[0-9a-f]+$/);
    expect(there).not.toBe(here);
    const sleeper = await asleep(db, quoted);
    await db.pool.query(
      `insert into ${quoted}.wh_outbox (message_id, destination, event_type, event_data) values ($1, 'd', 't', '{}')`,
      [randomUUID()],
    );
    expect(await sleeper.heard()).toBe(1);
  });
});
