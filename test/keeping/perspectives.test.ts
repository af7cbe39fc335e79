import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, keyedPerspective, perspective, streamIdOf } from '../../src/index.js';
import { openPerspectives } from '../../src/testing/open-perspectives.js';
import { holdsIn } from '../perspectives/support/holds.js';
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

/** It has no idea of Atlantis, until the atlas has it. */
const makeMaps = ({ inline = false, atlas = { hasAtlantis: false } } = {}) =>
  perspective('maps', { model: z.object({ cities: z.array(z.string()) }), inline })
    .starts(CustomerJoined, () => ({ cities: [] }))
    .on(CustomerMoved, ({ cities }, { city }) => {
      if (city === 'Atlantis' && !atlas.hasAtlantis) throw new Error('no such city');
      return { cities: [...cities, city] };
    });
const moves = (...names: string[]) => [
  CustomerJoined({ id: 'ada', email: 'ada@example.org' }),
  ...names.map((city) => CustomerMoved({ id: 'ada', city })),
];
const behind = { name: 'maps@1', state: 'behind', failure: null };
const skip = { version: 3, reason: 'ticket 4711' };

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

  it('a model that is folded again leaves out an event that was skipped and still fails, and goes on', async () => {
    await using db = await createTestDatabase();
    const maps = makeMaps();
    await using shop = service(db, { perspectives: [maps] });
    await shop.start();
    await shop.events.append(moves('Rome', 'Atlantis', 'Oslo'));
    await eventually(() => shop.perspectives.skip(maps, 'ada', skip));
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    await shop.forget('ada');
    await shop.events.append(CustomerMoved({ id: 'ada', city: 'Bonn' }));
    await eventually(async () =>
      expect(await shop.model(maps).get('ada')).toEqual({ cities: ['Rome', 'Oslo', 'Bonn'] }),
    );
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
  });

  it('an append that folds an inline model again leaves out what was skipped, also when it could be applied', async () => {
    await using db = await createTestDatabase();
    const atlas = { hasAtlantis: false };
    const maps = makeMaps({ inline: true, atlas });
    const first = service(db, { perspectives: [maps] });
    await first.start();
    await first.events.append(moves('Rome', 'Atlantis', 'Oslo'));
    await eventually(() => first.perspectives.skip(maps, 'ada', skip));
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    await first.stop();
    atlas.hasAtlantis = true;
    await using shop = service(db, { perspectives: [maps] });
    await shop.forget('ada');
    await shop.events.append(CustomerMoved({ id: 'ada', city: 'Bonn' }));
    expect(await rowsOf(db, 'maps')).toMatchObject([{ data: { cities: ['Rome', 'Oslo', 'Bonn'] } }]);
  });

  it('an event that had failed before its stream is folded again is not skipped with those before it', async () => {
    await using db = await createTestDatabase();
    const maps = makeMaps();
    const first = service(db, { perspectives: [maps] });
    await first.start();
    await first.events.append(moves('Rome', 'Atlantis', 'Oslo'));
    await eventually(async () => expect(await holdsIn(db)).toMatchObject([{ failed: 3 }]));
    await first.stop();
    await using operator = service(db);
    await operator.forget('ada');
    expect(await operator.perspectives.held('maps')).toEqual([]);
    expect(await openPerspectives(db.pool, 'whizbang', ['maps@1'])).toContainEqual(behind);
    await expect(operator.perspectives.skip('maps', 'ada', skip)).rejects.toThrow(
      'is not held at an event now',
    );
    await using shop = service(db, { perspectives: [maps] });
    await shop.start();
    await eventually(() => shop.perspectives.skip(maps, 'ada', skip));
    await eventually(async () =>
      expect(await shop.model(maps).get('ada')).toEqual({ cities: ['Rome', 'Oslo'] }),
    );
  });
});
