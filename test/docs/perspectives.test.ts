// The guide to perspectives: what it says of bad input, and its programs for query builders.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { foldModels, StoredEvent } from '../../src/fold/index.js';
import { defineEvent, keyedPerspective, perspective, streamIdOf } from '../../src/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { orders, rowsOf } from '../perspectives/support/orders.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { codeBlocks, pageText, sections } from './page.js';
import { complaintsAbout, outputOf } from './program.js';

const page = pageText('docs/guide/perspectives.md');
const { body = '' } = sections(page).find(({ heading }) => heading === 'What bad input gets') ?? {};
const rows = new Map(
  [...body.matchAll(/^\| (.*?) \| (.*?) ?\| (.*?) \|$/gm)]
    .slice(1)
    .map(([, what = '', , answer = '']) => [
      what,
      answer.replace(/^`INVALID_OPTION`: /, '').replace(/;.*compiler$/, ''),
    ]),
);

const model = z.object({ cents: z.number() });
const small = perspective('small', { model, maxModelBytes: 100 });
const OrderReturned = defineEvent('OrderReturned', { schema: z.object({ orderId: z.string() }) });
const Bad = defineEvent('OrderPlaced', { schema: z.object({ nothing: z.string() }) });
const rowOf = (event: { definition: { type: string }; payload: unknown }, version: number) =>
  new StoredEvent({
    event_id: streamIdOf(`event ${version}`),
    stream_id: streamIdOf('a'),
    version,
    event_type: event.definition.type,
    aggregate_type: 'Order',
    event_data: event.payload,
    metadata: null,
    scope: null,
    sequence_number: version,
    created_at: '2026-11-17T08:00:00Z',
  } as ConstructorParameters<typeof StoredEvent>[0]);

/** The error of the last of these events. */
async function heldBy(made: Parameters<typeof foldModels>[0], ...events: Parameters<typeof rowOf>[0][]) {
  const results = await foldModels(
    made,
    new Map(),
    events.map((event, i) => rowOf(event, i + 1)),
  );
  const held = results.find(({ kind }) => kind === 'held');
  return held?.kind === 'held' ? held.error.message : 'nothing is held';
}

const thrownBy = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
};

const starting = (apply: (payload: { cents: number }) => unknown) =>
  heldBy(small.starts(OrderPlaced, apply as never), placed('a', 5));

/** What happens, by the first column of the page. */
const answers: Readonly<Record<string, () => string | Promise<string>>> = {
  'a name that cannot be that of a table, or begins with `wh_`': () =>
    thrownBy(() => perspective('open-orders', { model })).replaceAll('"', ''),
  'a column of an unknown type': () =>
    thrownBy(() => perspective('orders', { model, columns: { cents: 'money' as never } })),
  'a change where there is no model': () =>
    heldBy(
      small.on(OrderPaid, (of) => of),
      paid('a'),
    ),
  'a start where there is a model': () =>
    heldBy(
      small.starts(OrderPlaced, () => ({ cents: 1 })),
      placed('a'),
      placed('a'),
    ),
  'a payload that its schema refuses, or an upcaster that throws': () =>
    heldBy(
      small.starts(Bad, () => ({ cents: 1 })),
      placed('a'),
    ),
  'a function that throws': () =>
    starting(() => {
      throw new Error('out of paper');
    }),
  'a function that changes its input': () =>
    starting((payload) => {
      payload.cents = 1;
      return payload;
    }),
  'a function that returns nothing': () => starting(() => undefined),
  'a function that returns a promise': () => starting(async () => ({ cents: 1 })),
  'a model that does not fit its schema': () => starting(() => ({ cents: 'many' })),
  'a model that is too large': () => starting(() => ({ cents: 1, text: 'x'.repeat(200) })),
  'a key that is empty, or longer than 2000 bytes': () =>
    heldBy(
      keyedPerspective('keyed', { model, initial: { cents: 0 } }).on(
        OrderPlaced,
        () => '',
        (of) => of,
      ),
      placed('a'),
    ),
};

describe('What the guide to perspectives says of bad input', () => {
  it.each(Object.keys(answers))('the guide says what you get for %s', async (what) => {
    expect(await answers[what]?.()).toContain(rows.get(what) ?? 'not on the page');
  });

  it('the guide says what createWhizbang and start refuse of perspectives', async () => {
    await using db = await createTestDatabase();
    expect(thrownBy(() => service(db, { perspectives: [orders, orders] }))).toContain(
      rows.get('two perspectives of one name'),
    );
    const none = perspective('orders', { model });
    expect(thrownBy(() => service(db, { perspectives: [none] }))).toContain(
      rows.get('a perspective without an event'),
    );
    await db.pool.query('create table whizbang.orders (id int)');
    await using shop = service(db, { perspectives: [orders] });
    const refused = await shop.start().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(rows.get('the name of a table that exists') ?? '-'),
    });
  });

  it('the guide says what is logged when functions have changed and the version has not', async () => {
    await using db = await createTestDatabase();
    await using before = service(db, { perspectives: [orders] });
    await before.start();
    await before.stop();
    const logged: string[] = [];
    const log = (_: object, text: string) => logged.push(text);
    const changed = orders.on(OrderReturned, (order) => order);
    await using after = service(db, {
      perspectives: [changed],
      logger: { debug: log, info: log, warn: log, error: log },
    });
    await after.start();
    const warning = rows.get('functions that changed, a version that did not')?.replace('a warning: ', '');
    expect(logged).toContain(warning);
  });

  it('the guide says what you get for a value that its column refuses', async () => {
    await using db = await createTestDatabase();
    const halves = perspective('halves', { model, columns: { cents: 'int' } }).starts(OrderPlaced, () => ({
      cents: 0.5,
    }));
    await using shop = service(db, { perspectives: [halves] });
    await shop.start();
    await shop.events.append(placed('a'));
    const errors = await eventually(async () => {
      const held = await db.pool.query('select error from wh_perspective_checkpoints where held');
      expect(held.rows).toHaveLength(1);
      return held.rows as { error: string }[];
    });
    const said = rows.get('a value that its column, or a constraint of yours, refuses');
    expect(errors[0]?.error).toContain(said ?? 'not on the page');
  });

  it('every line of bad input in the guide to perspectives is checked', () => {
    const others = [
      'two perspectives of one name',
      'a perspective without an event',
      'the name of a table that exists',
      'functions that changed, a version that did not',
      'a value that its column, or a constraint of yours, refuses',
      'an event type that it does not name', // test/fold
    ];
    expect([...rows.keys()].sort()).toEqual([...Object.keys(answers), ...others].sort());
  });
});

describe('The view of a perspective', () => {
  const [, ownPrograms = ''] = page.split('<!-- from here on, each block is a program of its own -->');
  const [kysely = '', drizzle = ''] = codeBlocks(ownPrograms, 'ts');

  it('the view of a perspective can be queried with Kysely and with Drizzle', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.events.append([placed('a', 70), paid('a', 70), placed('b', 5)]);
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(2));
    const env = { DATABASE_URL: db.connectionString };
    const printed = /Both print `(.*)` when/.exec(ownPrograms)?.[1];
    expect(await outputOf(kysely, { env })).toBe(`${printed}\n`);
    expect(await outputOf(drizzle, { env })).toBe(`${printed}\n`);
  });

  it('the programs for query builders compile', () => {
    expect(complaintsAbout({ kysely, drizzle })).toEqual([]);
    expect(complaintsAbout({ kysely: kysely.replace("'paid')", "'late')") })).not.toEqual([]);
  });
});
