import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createWhizbang, receptor, type WhizbangError, type WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { OrderPlaced, service } from './service.js';

const connectionString = 'postgres://shop@localhost/shop';

function refusalOf(options: unknown): WhizbangError {
  try {
    createWhizbang(options as WhizbangOptions);
  } catch (error) {
    return error as WhizbangError;
  }
  throw new Error('it was not refused');
}

describe('Options that createWhizbang refuses', () => {
  const wrong: readonly [string, unknown, string][] = [
    ['nothing at all', undefined, 'there are no options'],
    ['no service', { connectionString }, 'service is missing'],
    ['an empty service', { service: '', connectionString }, 'service is missing'],
    ['no database', { service: 'shop', connectionString: undefined }, 'neither connectionString nor pool'],
    [
      'two databases',
      { service: 'shop', connectionString, pool: new pg.Pool() },
      'both connectionString and pool',
    ],
    [
      'a URL without a scheme',
      { service: 'shop', connectionString: 'localhost/shop' },
      'not a URL of PostgreSQL',
    ],
    [
      'a password with a slash that is not encoded',
      { service: 'shop', connectionString: 'postgres://u:pass/word@h/shop' },
      'not a URL of PostgreSQL',
    ],
    [
      'a URL of another database',
      { service: 'shop', connectionString: 'mysql://localhost/shop' },
      'not a URL',
    ],
    ['words for libpq', { service: 'shop', connectionString: 'host=localhost dbname=shop' }, 'not a URL'],
    [
      'a listen that is no URL',
      { service: 'shop', connectionString, listen: 'postgres' },
      'listen is not a URL',
    ],
    ['a single client', { service: 'shop', pool: new pg.Client() }, 'pool is a single client'],
    ['a pool that is none', { service: 'shop', pool: connectionString }, 'pool is not a pool'],
    [
      'a transport by its name',
      { service: 'shop', connectionString, transport: 'rabbitmq' },
      'transport is not a transport',
    ],
    [
      'a transaction',
      { service: 'shop', connectionString, transaction: {} },
      'transaction is not a function',
    ],
    ['half a logger', { service: 'shop', connectionString, logger: { info() {} } }, 'logger is not a logger'],
    [
      'a strategy that would never store',
      { service: 'shop', connectionString, strategy: 'scoped' },
      'strategy is "scoped"',
    ],
    [
      'an instance id of its own making',
      { service: 'shop', connectionString, instanceId: 'me' },
      'not a UUID',
    ],
    [
      'one receptor',
      { service: 'shop', connectionString, receptors: receptor(OrderPlaced, () => {}) },
      'not a list',
    ],
    [
      'a bare handler',
      { service: 'shop', connectionString, receptors: [() => {}] },
      'receptors[0] is not a receptor',
    ],
  ];

  it.each(wrong)('createWhizbang refuses wrong options in its own words: %s', (_, options, fact) => {
    const error = refusalOf(options);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining(fact) });
    expect(error.message).toMatch(/^createWhizbang: /);
    expect(error.hint).not.toContain('details.option');
  });

  it('createWhizbang does not repeat a wrong URL, which may hold a password', () => {
    const error = refusalOf({ service: 'shop', connectionString: 'host=localhost password=secret' });
    expect(JSON.stringify(error) + error.message + error.hint).not.toContain('secret');
  });
});

describe('An instance that cannot start', () => {
  it('an instance that cannot reach PostgreSQL fails to start with CONNECTION_FAILED', async () => {
    await using shop = createWhizbang({
      service: 'shop',
      connectionString: 'postgres://shop@127.0.0.1:1/shop',
    });
    await expect(shop.start()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      hint: expect.stringContaining('Check that PostgreSQL is running'),
    });
  });

  it('an instance on a database without a migration fails to start with NOT_MIGRATED', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { schema: 'nowhere' });
    await expect(shop.start()).rejects.toMatchObject({
      code: 'NOT_MIGRATED',
      message:
        'The schema is not migrated, or was migrated by an older version: schema "nowhere" does not exist.',
      hint: expect.stringContaining('whizbang migrate'),
    });
    await db.pool.query('create schema empty');
    await using other = service(db, { schema: 'empty' });
    await expect(other.start()).rejects.toMatchObject({
      message: expect.stringContaining('function empty.process_work_batch(…) does not exist'),
    });
  });
});
