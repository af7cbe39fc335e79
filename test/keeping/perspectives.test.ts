import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, keyedPerspective, perspective, streamIdOf } from '../../src/index.js';
import { rowsOf } from '../perspectives/support/orders.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const CustomerJoined = defineEvent('CustomerJoined', {
  schema: z.object({ id: z.string(), email: z.string().nullable() }),
  stream: ({ id }) => id,
  sealed: { subject: ({ id }) => id, fields: ['email'] },
});
const CustomerMoved = defineEvent('CustomerMoved', {
  schema: z.object({ id: z.string(), city: z.string() }),
  stream: ({ id }) => id,
});

const customers = perspective('customers', {
  model: z.object({ email: z.string().nullable(), city: z.string() }),
  columns: { email: 'text' },
})
  .starts(CustomerJoined, ({ email }) => ({ email, city: '' }))
  .on(CustomerMoved, (customer, { city }) => ({ ...customer, city }));

const cities = keyedPerspective('cities', {
  model: z.object({ moves: z.number() }),
  initial: { moves: 0 },
}).on(
  CustomerMoved,
  ({ city }) => city,
  ({ moves }) => ({ moves: moves + 1 }),
);

describe('perspectives and what is erased', () => {
  it('the model of a forgotten subject is folded again without the sealed fields', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [customers, cities] });
    await shop.start();
    for (const id of ['ada', 'bob']) {
      await shop.events.append([
        CustomerJoined({ id, email: `${id}@example.org` }),
        CustomerMoved({ id, city: 'Rome' }),
      ]);
    }
    await eventually(async () => {
      const rows = await rowsOf<{ version: string; email: string }>(db, 'customers');
      expect(rows.map(({ email }) => email).sort()).toEqual(['ada@example.org', 'bob@example.org']);
    });
    const { rebuild } = await shop.forget('ada');
    expect(rebuild).toEqual(['cities']);
    const visible = await rowsOf<{ data: { email: string | null } }>(db, 'customers');
    expect(visible.map(({ data }) => data.email)).not.toContain('ada@example.org');
    await shop.events.append(CustomerMoved({ id: 'ada', city: 'Oslo' }));
    await eventually(async () => {
      const rows = await rowsOf<{ id: string }>(db, 'customers');
      expect(rows.find(({ id }) => id === streamIdOf('ada'))).toMatchObject({
        version: '3',
        email: null,
        data: { email: null, city: 'Oslo' },
      });
    });
    expect((await db.pool.query('select 1 from wh_perspective_checkpoints')).rows).toEqual([]);
  });

  it('a stream is archived when every perspective has passed it, and a new one reads the archive', async () => {
    await using db = await createTestDatabase();
    const first = service(db, { perspectives: [customers] });
    await first.start();
    await first.events.append(CustomerJoined({ id: 'ada', email: 'ada@example.org' }));
    await eventually(async () => expect(await rowsOf(db, 'customers')).toHaveLength(1));
    await first.stop();
    await using sender = service(db);
    await sender.events.append(CustomerMoved({ id: 'ada', city: 'Rome' }));
    await expect(sender.events.archive('ada')).rejects.toMatchObject({ code: 'STREAM_NOT_READY' });
    await using shop = service(db, { perspectives: [customers] });
    await shop.start();
    await eventually(() => shop.events.archive('ada'));
    expect((await db.pool.query('select 1 from wh_event_store')).rows).toEqual([]);
    await using later = service(db, { perspectives: [customers, cities] });
    await later.start();
    await eventually(async () =>
      expect(await rowsOf(db, 'cities')).toMatchObject([{ id: 'Rome', data: { moves: 1 } }]),
    );
  });

  it('a deleted stream leaves no model behind, and goes on with its next event', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [customers] });
    await shop.start();
    await shop.events.append([
      CustomerJoined({ id: 'ada', email: 'a' }),
      CustomerJoined({ id: 'bob', email: 'b' }),
    ]);
    await eventually(async () => expect(await rowsOf(db, 'customers')).toHaveLength(2));
    await shop.events.delete('ada');
    expect(await rowsOf(db, 'customers')).toHaveLength(1);
    await shop.events.append(CustomerJoined({ id: 'ada', email: 'new' }));
    await eventually(async () => expect(await rowsOf(db, 'customers')).toHaveLength(2));
  });
});
