import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { createWhizbang, defineEvent, migrate, postgresTransport, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { memoryFolder } from '../support/memory-folder.js';

const Booked = defineEvent('Booked', {
  schema: z.object({ account: z.uuid(), number: z.number() }),
  stream: ({ account }) => account,
});
const streams = 200;
const perStream = 12;

it('a crash of the receiving server under load loses, doubles and reorders nothing, and counts no attempt', async () => {
  await using near = await createTestDatabase();
  await using server = await startEmbeddedPostgres({ tempDir: memoryFolder() });
  const { connectionString } = server;
  await migrate({ connectionString, schema: 'ledger' });
  const far = new pg.Pool({ connectionString, max: 3 });
  far.on('error', () => {});
  await far.query(
    'create table effects (place bigint generated always as identity, account uuid, number int)',
  );
  const book = receptor(Booked, ({ account, number }, { tx }) =>
    tx.query('insert into effects (account, number) values ($1, $2)', [account, number]).then(() => {}),
  );
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => warnings.push(text) };
  const ledgers = [1, 2].map(() =>
    createWhizbang({ service: 'ledger', schema: 'ledger', connectionString, receptors: [book], logger }),
  );
  const databases = { ledger: { connectionString, schema: 'ledger' } };
  const shops = [1, 2].map(() =>
    createWhizbang({
      service: 'shop',
      connectionString: near.connectionString,
      transport: postgresTransport({ databases }),
      logger,
    }),
  );
  const failures: unknown[] = [];
  for (const shop of shops) shop.on('failure', (failure) => failures.push(failure));
  try {
    await Promise.all([...ledgers, ...shops].map((service) => service.start()));
    const accounts = Array.from({ length: streams }, () => randomUUID());
    const handled = async () => Number((await far.query('select count(*) from effects')).rows[0].count);

    const publish = async (from: number, to: number) => {
      for (let number = from; number <= to; number++) {
        const events = accounts.map((account) => Booked({ account, number }));
        await (shops[number % 2] as (typeof shops)[0]).publish(events);
      }
    };
    await publish(1, perStream / 2);
    await eventually(async () => expect(await handled()).toBeGreaterThan((streams * perStream) / 20));
    const crashing = server.restart({ crash: true });
    await publish(perStream / 2 + 1, perStream);
    await crashing;
    expect(await eventually(handled)).toBeLessThan(streams * perStream);
    await eventually(() =>
      expect(warnings).toContain('Another database cannot be reached; messages for it wait in the outbox'),
    );

    await eventually(async () => expect(await handled()).toBeGreaterThanOrEqual(streams * perStream));
    const { rows } = await far.query(
      'select account, array_agg(number order by place) as numbers from effects group by account',
    );
    const inOrder = Array.from({ length: perStream }, (_, i) => i + 1);
    expect(rows).toHaveLength(streams);
    expect(rows.filter(({ numbers }) => String(numbers) !== String(inOrder))).toEqual([]);
    expect(failures).toEqual([]);
    await eventually(async () => expect((await near.pool.query('select from wh_outbox')).rowCount).toBe(0));
  } finally {
    await Promise.all([...ledgers, ...shops].map((service) => service.stop()));
    await far.end();
  }
});
