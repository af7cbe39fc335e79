// The ways of an answer: through a broker, without a transaction, from a batch, and where there is no way.
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { batchReceptor, defineCommand, inProcessTransport, receptor } from '../../src/index.js';
import { migrate } from '../../src/migrate/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const Double = defineCommand('Double', {
  schema: z.object({ n: z.number() }),
  to: 'sums',
  result: z.object({ twice: z.number() }),
});
const doubles = receptor(Double, async ({ n }) => ({ twice: 2 * n }));
const timeoutSeconds = 20;

describe('The way of an answer', () => {
  it('an answer comes back through a broker', async () => {
    await using db = await createTestDatabase();
    await using other = await createTestDatabase();
    const transport = inProcessTransport();
    await using till = service(db, { service: 'till', transport });
    await using sums = service(other, { service: 'sums', transport, receptors: [doubles] });
    await sums.start();
    await till.start();
    expect(await till.request(Double({ n: 4 }), { timeoutSeconds })).toEqual({ twice: 8 });
    await eventually(async () => {
      const { rows } = await db.pool.query(
        'select 1 from wh_inbox union all select 1 from wh_active_streams',
      );
      expect(rows).toEqual([]);
    });
  });

  it('an answer comes back from a service in another schema of the same database', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'sums' });
    await using till = service(db, { service: 'till' });
    await using sums = service(db, { service: 'sums', schema: 'sums', receptors: [doubles] });
    await sums.start();
    await till.start();
    expect(await till.request(Double({ n: 5 }), { timeoutSeconds })).toEqual({ twice: 10 });
  });

  it('a receptor without a transaction answers', async () => {
    await using db = await createTestDatabase();
    const without = receptor(Double, { transaction: false }, ({ n }) => ({ twice: 2 * n }));
    await using sums = service(db, { service: 'sums', receptors: [without] });
    await sums.start();
    expect(await sums.request(Double({ n: 6 }), { timeoutSeconds })).toEqual({ twice: 12 });
  });

  it('many requests that share transactions get each its own answer', async () => {
    await using db = await createTestDatabase();
    await using sums = service(db, { service: 'sums', receptors: [doubles], concurrency: 2 });
    await sums.start();
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => sums.request(Double({ n }), { timeoutSeconds })));
    expect(answers.map(({ twice }) => twice)).toEqual(numbers.map((n) => 2 * n));
  });

  it('a receptor of batches answers what is done, and what failed by its error', async () => {
    await using db = await createTestDatabase();
    const Note = defineCommand('Note', { schema: z.object({ n: z.number() }), to: 'sums' });
    const notes = batchReceptor(Note, { size: 10, waitMs: 50, retry: { attempts: 1 } }, async (all) =>
      all.map(({ n }) => (n === 2 ? new Error('two is taken') : undefined)),
    );
    await using sums = service(db, { service: 'sums', receptors: [notes] });
    await sums.start();
    const asked = [1, 2, 3].map((n) => sums.request(Note({ n }), { timeoutSeconds }));
    expect(await Promise.allSettled(asked)).toMatchObject([
      { status: 'fulfilled' },
      {
        status: 'rejected',
        reason: { code: 'REQUEST_FAILED', details: { reason: { message: 'two is taken' } } },
      },
      { status: 'fulfilled' },
    ]);
  });

  it('a request to a service that nobody has is rejected when its command is given up', async () => {
    await using db = await createTestDatabase();
    await using till = service(db, { service: 'till', retry: { attempts: 1 } });
    await till.start();
    await expect(till.request(Double({ n: 1 }), { timeoutSeconds, to: 'nobody' })).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
    });
    expect((await db.pool.query('select 1 from wh_requests')).rows).toEqual([]);
  });

  it('a command that is invalid is refused before anything is sent', async () => {
    await using db = await createTestDatabase();
    await using till = service(db, { service: 'till' });
    await till.start();
    const wrong = Double({ n: 'one' as never });
    await expect(till.request(wrong)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' });
    await eventually(async () => expect((await db.pool.query('select 1 from wh_requests')).rows).toEqual([]));
  });

  it('an answer is found without notifications, by looking', async () => {
    await using db = await createTestDatabase();
    await using sums = service(db, { service: 'sums', receptors: [doubles], listen: false } as object);
    await sums.start();
    expect(await sums.request(Double({ n: 9 }), { timeoutSeconds })).toEqual({ twice: 18 });
  });

  it('the result of a request has the type of the schema', () => {
    const unused = async () => {
      const till = service({} as never);
      expectTypeOf(await till.request(Double({ n: 1 }))).toEqualTypeOf<{ twice: number }>();
    };
    expect(unused).toBeTypeOf('function');
  });
});
