// The page of the SQL functions is compared with the database: signatures, limits, keys, columns, bits; and its example is run.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MessageProcessingStatus, WorkBatchFlags } from '../../src/message.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { codeBlocks, codeWords, pageText, sections } from './page.js';

const page = pageText('docs/reference/sql.md');

/** The rows of the first table below a heading, as cells. */
function tableOf(heading: string): string[][] {
  const { body = '' } = sections(page).find((section) => section.heading === heading) ?? {};
  const [, table = ''] = /(?:^|\n)((?:\|.*\n)+)/.exec(body) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
const bare = (cell = '') => cell.replaceAll('`', '');
const parameters = tableOf('Parameters').map(([name, type, initial, limits = '']) => ({
  name: bare(name),
  type: bare(type),
  initial: bare(initial),
  limits,
}));

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const caller = {
  p_instance_id: randomUUID() as unknown,
  p_service_name: 'shop',
  p_host_name: 'host',
  p_process_id: 1,
};

/** The error of a call, or undefined: nothing of it is kept. */
async function refusalOf(given: Record<string, unknown>) {
  const all = { ...caller, ...given };
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const args = Object.keys(all).map((name, i) => `${name} => $${i + 1}`);
    await client.query(`select * from process_work_batch(${args.join(', ')})`, Object.values(all));
    return undefined;
  } catch (error) {
    return error as { code: string; column?: string; message: string };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe('The page of the SQL functions', () => {
  it('the page of the SQL functions has the parameters of process_work_batch, in order, with types and defaults', async () => {
    const { rows } = await db.pool.query<{ name: string; type: string; initial: string | null }>(
      `select a.name, format_type(t.oid, null) as type, pg_get_function_arg_default(p.oid, a.place::int) as initial
       from pg_proc p, unnest(p.proargnames) with ordinality as a(name, place), unnest(p.proargtypes) with ordinality as t(oid, place)
       where p.oid = 'process_work_batch'::regproc and t.place = a.place order by a.place`,
    );
    const real = rows.map(({ name, type, initial }) => ({
      name,
      type,
      initial: (initial ?? '').replace(/::.*/, '').toLowerCase(),
    }));
    expect(parameters.map(({ name, type, initial }) => ({ name, type, initial }))).toEqual(real);
  });

  it('the page of the SQL functions is right about the limits of the parameters', async () => {
    for (const { name, type, limits } of parameters) {
      const isNullRefused = (await refusalOf({ [name]: null })) !== undefined;
      expect({ name, isNullRefused }).toEqual({ name, isNullRefused: limits.includes('not null') });
      const least = /at least (\d+)/.exec(limits)?.[1];
      if (least !== undefined) {
        expect(await refusalOf({ [name]: Number(least) }), name).toBeUndefined();
        expect(await refusalOf({ [name]: Number(least) - 1 })).toMatchObject({ code: 'WB001', column: name });
      }
      if (limits.includes('not empty'))
        expect(await refusalOf({ [name]: '' })).toMatchObject({ column: name });
      if (type.endsWith('[]')) {
        expect(limits).toBe('no null among them');
        expect(await refusalOf({ [name]: [null] })).toMatchObject({ code: 'WB001', column: `${name}[0]` });
      }
    }
  });

  it('the page of the SQL functions has the columns of the result', async () => {
    const { rows } = await db.pool.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, null) as type from pg_attribute
       where attrelid = (select typrelid from pg_type where oid = (select prorettype from pg_proc where oid = 'process_work_batch'::regproc))
       order by attnum`,
    );
    const documented = tableOf('Result').map(([name, type]) => ({ name: bare(name), type: bare(type) }));
    expect(documented).toEqual(rows);
  });

  it.each([
    ['Status bits', MessageProcessingStatus],
    ['Flags', WorkBatchFlags],
  ])('the page of the SQL functions has the %s of the code', (heading, bits) => {
    const documented = tableOf(heading).map(([name, bit]) => [bare(name), Number(bit)]);
    expect(Object.fromEntries(documented)).toEqual(bits);
  });

  it('the page of the SQL functions has the functions that a service is granted, with their signatures', async () => {
    const grants = codeBlocks(pageText('docs/operate/least-privilege.md'), 'sql').join('\n');
    const granted = [...grants.matchAll(/grant execute on function ([^;]*) to/g)]
      .flatMap(([, names = '']) => [...names.matchAll(/messaging\.(\w+)/g)])
      .map(([, name = '']) => name)
      .filter((name) => name !== 'process_work_batch');
    const { rows } = await db.pool.query<{ signature: string; result: string }>(
      `select proname || '(' || pg_get_function_arguments(oid) || ')' as signature, pg_get_function_result(oid) as result
       from pg_proc where pronamespace = 'whizbang'::regnamespace and proname = any($1)`,
      [granted],
    );
    const documented = tableOf('Other functions').map(([signature, result]) => [
      bare(signature),
      bare(result),
    ]);
    expect(documented.sort()).toEqual(rows.map(({ signature, result }) => [signature, result]).sort());
  });

  it('the page of the SQL functions names exactly the SQLSTATEs that the functions raise', async () => {
    const { rows } = await db.pool.query<{ state: string }>(
      `select distinct m[1] as state from pg_proc, regexp_matches(prosrc, 'errcode = ''(WB[0-9]{3})''', 'g') m
       where pronamespace = 'whizbang'::regnamespace order by 1`,
    );
    expect([...new Set(page.match(/WB\d{3}/g))].sort()).toEqual(rows.map(({ state }) => state));
  });
});

describe.each([
  'New outbox message',
  'New inbox message',
  'Completion',
  'Failure',
  'Receptor report',
  'Perspective report',
])('The table of a %s', (heading) => {
  const keys = tableOf(heading).map(([key, type, needed]) => ({
    key: bare(key),
    type: bare(type),
    isNeeded: needed === 'yes',
  }));
  const { body = '' } = sections(page).find((section) => section.heading === heading) ?? {};
  const lists = codeWords(/For [^.:]*[.:]/.exec(body)?.[0] ?? '');
  const id = randomUUID();
  const examples: Record<string, unknown> = {
    uuid: id,
    text: 'some text',
    json: { some: 'json' },
    boolean: true,
    timestamptz: '2026-01-01T00:00:00Z',
    number: 1.5,
    status: 0,
    version: 0,
    int: -1,
    count: 1,
  };
  /** What each type does not take. */
  const wrong: Record<string, unknown> = {
    uuid: 'no id',
    text: 7,
    boolean: 'true',
    timestamptz: 'no time',
    number: '1',
    status: -1,
    version: -1,
    int: 1.5,
    count: 0,
  };
  const item = Object.fromEntries(keys.map(({ key, type }) => [key, examples[type]]));
  // A message that comes of another one needs a report on that one.
  const report = { p_inbox_completions: JSON.stringify([{ message_id: id, status: 0 }]) };
  const refusal = (list: string, change: Record<string, unknown>) =>
    refusalOf({ ...('only_with' in item ? report : {}), [list]: JSON.stringify([{ ...item, ...change }]) });

  it('the table of an item names the parameters that take the item', () => {
    expect(lists.length).toBeGreaterThan(0);
    const linked = parameters.map(({ name }) => name);
    expect(linked).toEqual(expect.arrayContaining(lists));
  });

  it.each(lists)('the table of an item has exactly the keys that %s takes', async (list) => {
    expect(await refusal(list, {})).toBeUndefined();
    const unknown = await refusal(list, { no_such_key: 1 });
    expect(unknown).toMatchObject({ code: 'WB001', column: `${list}[0].no_such_key` });
    const [, known = ''] = /known keys are (.*)$/.exec(unknown?.message ?? '') ?? [];
    expect(keys.map(({ key }) => key).sort()).toEqual(known.split(', '));
  });

  it.each(lists)('the table of an item is right about what %s needs, and of which type', async (list) => {
    for (const { key, type, isNeeded } of keys) {
      const column = `${list}[0].${key}`;
      for (const missing of [null, undefined]) {
        const error = await refusal(list, { [key]: missing });
        expect({ key, column: error?.column }).toEqual({ key, column: isNeeded ? column : undefined });
      }
      if (type !== 'json') {
        expect(await refusal(list, { [key]: wrong[type] })).toMatchObject({ code: 'WB001', column });
      }
    }
  });
});

describe('The example in psql', () => {
  it('the example in psql prints what the page says', async () => {
    await using empty = await createTestDatabase();
    const results = codeBlocks(page, '').map((block) =>
      block
        .trim()
        .split('\n')
        .filter((line) => !/^[-+]+$/.test(line.trim()))
        .map((line) => line.split('|').map((cell) => cell.trim())),
    );
    const statements = codeBlocks(page, 'sql');
    expect(results.length).toBe(statements.length);
    for (const [i, statement] of statements.entries()) {
      const { fields, rows } = await empty.pool.query<unknown[]>({ text: statement, rowMode: 'array' });
      const shown = rows.map((row) =>
        row.map((cell) =>
          typeof cell === 'object' ? JSON.stringify(cell).replaceAll(':', ': ') : String(cell),
        ),
      );
      expect([fields.map(({ name }) => name), ...shown]).toEqual(results[i]);
    }
  });
});
