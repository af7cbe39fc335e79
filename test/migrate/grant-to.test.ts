// `grantTo`: a role that was given nothing else runs a whole service, and can do nothing besides.
import pg from 'pg';
import { expect, it } from 'vitest';
import { createWhizbang, migrate, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { grantStatements } from '../../src/migrate/grants.js';
import { runCli } from '../cli/run-cli.js';
import { codeBlocks, pageText } from '../docs/page.js';
import { OrderPlaced } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

it('a role that migrate grants to runs a service, and reads no table of it', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  const role = `${db.name}_app`;
  await db.pool.query(`create role ${role}`);
  const pool = new pg.Pool({ connectionString: db.connectionString, options: `-c role=${role}`, max: 12 });
  try {
    const run = await runCli(['migrate', '--grant-to', role], { DATABASE_URL: db.connectionString });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const handled: string[] = [];
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void handled.push(orderId));
    await using shop = createWhizbang({ service: 'shop', pool, receptors: [onPlaced], logger: silentLogger });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(handled).toEqual(['a']));
    await expect(pool.query('select from whizbang.wh_inbox')).rejects.toMatchObject({ code: '42501' });
    await shop.stop();
  } finally {
    await pool.end();
    await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

it('a migration grants also where nothing else is to be done, and refuses a role that does not exist', async () => {
  await using db = await createTestDatabase();
  const role = `${db.name}_late`;
  await db.pool.query(`create role ${role}`);
  try {
    expect(await migrate({ pool: db.pool, grantTo: role })).toMatchObject({ alreadyCurrent: true });
    const { rows } = await db.pool.query(
      `select has_function_privilege($1, 'whizbang.wh_send(jsonb)', 'execute') as may`,
      [role],
    );
    expect(rows).toEqual([{ may: true }]);
    await expect(migrate({ pool: db.pool, grantTo: 'nobody here' })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('nobody here'),
    });
  } finally {
    await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

it('a reader looks and cannot act, an operator acts and sees no payload', async () => {
  await using db = await createTestDatabase();
  const [reader, operator] = [`${db.name}_reader`, `${db.name}_operator`];
  const as = (role: string) => {
    const url = new URL(db.connectionString);
    url.searchParams.set('options', `-c role=${role}`);
    return (...args: string[]) => runCli(args, { DATABASE_URL: url.href });
  };
  await db.pool.query(`create role ${reader}; create role ${operator}`);
  try {
    await migrate({ pool: db.pool, grantTo: reader, grantAs: 'reader' });
    const owner = { DATABASE_URL: db.connectionString };
    const run = await runCli(['migrate', '--grant-to', operator, '--as', 'operator'], owner);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const looks = [
      ['status'],
      ['instances'],
      ['streams'],
      ['operations'],
      ['events'],
      ['dead-letters', 'list'],
    ];
    for (const command of looks) expect(await as(reader)(...command)).toMatchObject({ code: 0, stderr: '' });
    const denied = { code: 1, stderr: expect.stringContaining('PERMISSION_DENIED') };
    expect(await as(reader)('pause', 'intake', '--yes')).toMatchObject(denied);
    expect(await as(operator)('pause', 'intake', '--yes', '--who', 'anna')).toMatchObject({ code: 0 });
    expect(await as(operator)('resume', 'intake', '--json')).toMatchObject({ code: 0, stderr: '' });
    expect(await as(operator)('events', '--payload')).toMatchObject(denied);
    const { rows } = await db.pool.query('select who from whizbang.wh_operations order by id');
    expect(rows[0]).toEqual({ who: 'anna' });
    const grants = migrate({ pool: db.pool, grantTo: operator, grantAs: 'king' as never });
    await expect(grants).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  } finally {
    for (const role of [reader, operator]) await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

it('the page on least privilege has exactly the grants that migrate makes', () => {
  const [, page = ''] = codeBlocks(pageText('docs/operate/least-privilege.md'), 'sql');
  const rights = (statements: string) =>
    [...statements.matchAll(/grant ([^;]*?) to whizbang_app/g)].flatMap(([, right = '']) => {
      const [, names] = /execute on function ([\s\S]*)/.exec(right) ?? [];
      return names === undefined ? [right.replaceAll(/\s+/g, ' ')] : names.split(/,\s*/);
    });
  const made = grantStatements('messaging', 'whizbang_app').join(';\n');
  expect(rights(page).sort()).toEqual(rights(made).sort());
});

it('the page on least privilege has exactly the grants for readers and operators', () => {
  const blocks = codeBlocks(pageText('docs/operate/least-privilege.md'), 'sql');
  const namesIn = (text: string) => [...text.matchAll(/messaging\.(\w+)/g)].map(([, name]) => name).sort();
  const blockOf = (mark: string) => blocks.find((sql) => sql.startsWith(`-- ${mark}\n`)) ?? '';
  const reader = blockOf('for people and dashboards');
  const madeFor = (kind: 'reader' | 'operator') => grantStatements('messaging', 'r', kind).join(';\n');
  expect(namesIn(reader)).toEqual(namesIn(madeFor('reader')));
  expect(namesIn(reader + blockOf('for operators'))).toEqual(namesIn(madeFor('operator')));
});
