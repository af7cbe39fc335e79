// None of these engines can be had here: only the text of `select version()` is theirs, and PostgreSQL answers the rest.
import pg from 'pg';
import { describe, expect } from 'vitest';
import { refuseEngine } from '../../src/database/index.js';
import { createWhizbang, migrate } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { it } from '../support/work.js';

const refused = {
  CockroachDB: 'CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15, go1.22)',
  YugabyteDB: 'PostgreSQL 15.2-YB-2.25.0.0-b489 on x86_64-pc-linux-gnu, compiled by clang, 64-bit',
  'Amazon Redshift':
    'PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.77433',
  Greenplum: 'PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2b1f) on x86_64-pc-linux-gnu',
  QuestDB: 'PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB',
};
const fine = [
  'PostgreSQL 17.2 (Debian 17.2-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit',
  'PostgreSQL 16.4 on aarch64-unknown-linux-gnu, compiled by aarch64-unknown-linux-gnu-gcc (GCC) 9.5.0, 64-bit',
  'PostgreSQL 17.5 (84bec44) on aarch64-unknown-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit',
];

/** A pool whose server says that it is another engine. */
function sayingVersion(connectionString: string, version: string): pg.Pool {
  class Client extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: the many forms of `query` are all passed on
    override query(text: any, ...rest: any[]): any {
      const isAsked = typeof text === 'string' && text.startsWith('select version()');
      return super.query(isAsked ? `select '${version}'::text as version` : text, ...(rest as []));
    }
  }
  return new pg.Pool({ connectionString, Client } as pg.PoolConfig);
}

describe('Engines', () => {
  for (const [engine, version] of Object.entries(refused)) {
    it(`${engine} is refused by start and by migrate before anything is changed`, async ({ db }) => {
      const pool = sayingVersion(db.connectionString, version);
      const expected = {
        code: 'ENGINE_UNSUPPORTED',
        details: { engine },
        message: expect.stringContaining(engine),
      };
      await expect(migrate({ pool, schema: 'elsewhere' })).rejects.toMatchObject(expected);
      const shop = createWhizbang({ service: 'shop', pool, logger: silentLogger });
      await expect(shop.start()).rejects.toMatchObject(expected);
      const { rowCount } = await db.pool.query(`select from pg_namespace where nspname = 'elsewhere'`);
      expect(rowCount).toBe(0);
      await pool.end();
    });
  }

  it('PostgreSQL and its managed services are accepted', () => {
    expect(fine.map((version) => refuseEngine(version))).toEqual(fine.map(() => undefined));
  });

  it('an engine that is not known is started with, and a warning names it', async ({ db }) => {
    const pool = sayingVersion(db.connectionString, 'SomethingSQL 1.0');
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (facts: object, text: string) => warnings.push([facts, text]) };
    const shop = createWhizbang({ service: 'shop', pool, logger });
    await shop.start();
    await shop.stop();
    await pool.end();
    expect(warnings).toEqual([
      [
        { version: 'SomethingSQL 1.0', instanceId: expect.any(String) },
        'The engine of this database is not known to work',
      ],
    ]);
  });
});
