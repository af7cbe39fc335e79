// A command is asked, and its answer reaches whoever waits: in one service, between two schemas, between two databases.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, FinalError, postgresTransport, receptor } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const Add = defineCommand('Add', {
  schema: z.object({ a: z.number(), b: z.number() }),
  to: 'sums',
  result: z.object({ sum: z.number() }),
});

const adds = receptor(Add, async ({ a, b }) => ({ sum: a + b }));
const rows = async (db: TestDatabase, table: string) => (await db.pool.query(`select * from ${table}`)).rows;

/** Two services, each in its own database, which know each other's. */
async function twoServices(db: TestDatabase, other: TestDatabase) {
  const to = (name: string, { connectionString }: TestDatabase) =>
    postgresTransport({ databases: { [name]: { connectionString } } });
  const shop = service(db, { service: 'shop', transport: to('sums', other) });
  const sums = service(other, {
    service: 'sums',
    transport: to('shop', db),
    receptors: [adds],
  });
  await sums.start();
  await shop.start();
  return { shop, sums };
}

describe('A request', () => {
  it('a request resolves with the result of a receptor of the same service', async () => {
    await using db = await createTestDatabase();
    await using sums = service(db, { service: 'sums', receptors: [adds] });
    await sums.start();
    const { sum } = await sums.request(Add({ a: 1, b: 2 }), { timeoutSeconds: 20 });
    expect(sum).toBe(3);
    await eventually(async () => expect(await rows(db, 'wh_requests')).toEqual([]));
    expect([await rows(db, 'wh_inbox'), await rows(db, 'wh_outbox')]).toEqual([[], []]);
  });

  it('a request resolves with the result of a service in another database', async () => {
    await using db = await createTestDatabase();
    await using other = await createTestDatabase();
    const { shop, sums } = await twoServices(db, other);
    await using _shop = shop;
    await using _sums = sums;
    const answers = await Promise.all(
      [1, 2, 3].map((a) => shop.request(Add({ a, b: 10 }), { timeoutSeconds: 20 })),
    );
    expect(answers).toEqual([{ sum: 11 }, { sum: 12 }, { sum: 13 }]);
    await eventually(async () => {
      for (const each of [db, other])
        for (const table of ['wh_requests', 'wh_outbox', 'wh_inbox'])
          expect(await rows(each, table)).toEqual([]);
    });
  });

  it('a request of a command without a result resolves when it is done', async () => {
    await using db = await createTestDatabase();
    const Note = defineCommand('Note', { schema: z.object({ text: z.string() }) });
    const noted: string[] = [];
    await using shop = service(db, {
      receptors: [receptor(Note, async ({ text }) => void noted.push(text))],
    });
    await shop.start();
    expect(await shop.request(Note({ text: 'hello' }))).toBeUndefined();
    expect(noted).toEqual(['hello']);
  });

  it('a request whose receptor fails for the last time is rejected with the reason', async () => {
    await using db = await createTestDatabase();
    await using sums = service(db, {
      service: 'sums',
      receptors: [
        receptor(Add, async () => {
          throw new FinalError('overflow');
        }),
      ],
    });
    await sums.start();
    await expect(sums.request(Add({ a: 1, b: 2 }), { timeoutSeconds: 20 })).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      details: { type: 'Add', reason: { message: 'overflow' } },
    });
    expect(await rows(db, 'wh_dead_letters')).toHaveLength(1);
  });

  it('a request is rejected after onGivenUp, in the transaction that buries the command', async () => {
    await using db = await createTestDatabase();
    const given: string[] = [];
    const failing = receptor(
      Add,
      {
        retry: { attempts: 2, firstDelaySeconds: 0.01 },
        onGivenUp: (_, __, error) => void given.push(error.message),
      },
      async () => {
        throw Object.assign(new Error('no paper'), { code: 'E_PAPER' });
      },
    );
    await using sums = service(db, { service: 'sums', receptors: [failing] });
    await sums.start();
    await expect(sums.request(Add({ a: 1, b: 2 }), { timeoutSeconds: 20 })).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      details: { reason: { message: 'no paper', code: 'E_PAPER' } },
    });
    expect(given).toEqual(['no paper']);
  });

  it('a request is answered by the attempt that succeeds', async () => {
    await using db = await createTestDatabase();
    const trying = receptor(Add, { retry: { firstDelaySeconds: 0.01 } }, async ({ a, b }, ctx) => {
      if (ctx.attempt < 3) throw new Error('not yet');
      return { sum: a + b };
    });
    await using sums = service(db, { service: 'sums', receptors: [trying] });
    await sums.start();
    expect(await sums.request(Add({ a: 2, b: 2 }), { timeoutSeconds: 20 })).toEqual({ sum: 4 });
  });

  it('a request without an answer in time is rejected, its command runs all the same, and nothing is left', async () => {
    await using db = await createTestDatabase();
    let open: (value?: unknown) => void = () => {};
    const gate = new Promise((resolve) => {
      open = resolve;
    });
    const handled: number[] = [];
    const slow = receptor(Add, async ({ a, b }) => {
      await gate;
      handled.push(a);
      return { sum: a + b };
    });
    await using sums = service(db, { service: 'sums', receptors: [slow] });
    await sums.start();
    const late = sums.request(Add({ a: 7, b: 1 }), { timeoutSeconds: 0.2 });
    await expect(late).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT', details: { timeoutSeconds: 0.2 } });
    open();
    await eventually(async () => {
      expect(handled).toEqual([7]);
      for (const table of ['wh_requests', 'wh_outbox', 'wh_inbox']) expect(await rows(db, table)).toEqual([]);
    });
  });

  it('the first of two answers counts, and the second is dropped', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { receptors: [receptor(Add, () => new Promise<never>(() => {}))] });
    await shop.start();
    const asked = shop.request(Add({ a: 1, b: 1 }), { timeoutSeconds: 20, to: 'shop' });
    const [{ request_id }] = (await eventually(async () => {
      const found = await rows(db, 'wh_requests');
      expect(found).toHaveLength(1);
      return found;
    })) as [{ request_id: string }];
    const client = await db.connect();
    const answer = (sum: number) =>
      client.query(
        `insert into wh_inbox (message_id, handler_name, event_type, event_data)
         values (gen_random_uuid(), '(answer)', '(answer)', $1)`,
        [{ requestId: request_id, result: { sum } }],
      );
    await client.query('begin');
    await answer(1);
    await answer(2);
    await client.query('commit');
    expect(await asked).toEqual({ sum: 1 });
    await answer(3);
    expect(await rows(db, 'wh_requests')).toEqual([]);
    await shop.stop({ seconds: 0 });
  });

  it('a result that the schema of either side refuses is an error, not a result', async () => {
    await using db = await createTestDatabase();
    const Wrong = defineCommand('Add', {
      schema: z.object({}),
      to: 'sums',
      result: z.object({ total: z.number() }),
    });
    const retry = { attempts: 1 };
    const bad = receptor(Add, { retry }, async ({ a }) => (a === 1 ? ({ sum: 'one' } as never) : { sum: a }));
    await using sums = service(db, { service: 'sums', receptors: [bad] });
    await sums.start();
    const options = { timeoutSeconds: 20 };
    await expect(sums.request(Add({ a: 1, b: 0 }), options)).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      details: { reason: { code: 'INVALID_MESSAGE' } },
    });
    const wrong = Wrong({}) as unknown as { definition: object };
    const asked = { definition: wrong.definition, payload: { a: 2, b: 0 } };
    await expect(sums.request(asked as never, options)).rejects.toMatchObject({ code: expect.any(String) });
  });

  it('a request inside a receptor, before start, after stop, or with a transaction is refused', async () => {
    await using db = await createTestDatabase();
    const refusals: unknown[] = [];
    const inside = receptor(Add, async ({ a, b }) => {
      await sums.request(Add({ a, b })).catch((error) => refusals.push(error));
      return { sum: 0 };
    });
    await using sums = service(db, { service: 'sums', receptors: [inside] });
    await expect(sums.request(Add({ a: 1, b: 1 }))).rejects.toMatchObject({ code: 'NOT_STARTED' });
    await sums.start();
    await sums.request(Add({ a: 1, b: 1 }));
    expect(refusals).toMatchObject([{ code: 'INVALID_OPTION' }]);
    await expect(sums.request(Add({ a: 1, b: 1 }), { tx: {} } as object)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'tx' },
    });
    await expect(sums.request(Add({ a: 1, b: 1 }), { timeoutSeconds: 0 })).rejects.toMatchObject({
      details: { option: 'timeoutSeconds' },
    });
    await sums.stop();
    await expect(sums.request(Add({ a: 1, b: 1 }))).rejects.toMatchObject({ code: 'DISPOSED' });
  });

  it('a request that waits when its instance stops is rejected', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { receptors: [receptor(Add, () => new Promise<never>(() => {}))] });
    await shop.start();
    const asked = shop.request(Add({ a: 1, b: 1 }), { to: 'shop' });
    asked.catch(() => {});
    await eventually(async () => expect(await rows(db, 'wh_requests')).toHaveLength(1));
    await shop.stop({ seconds: 0 });
    await expect(asked).rejects.toMatchObject({ code: 'DISPOSED' });
    expect(await rows(db, 'wh_requests')).toEqual([]);
  });
});
