// What the doctor says of a broker where the database, the services or the flags are the matter, and not the broker.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../src/doctor/index.js';
import { migrate } from '../../src/migrate/index.js';
import { inProcessTransport } from '../../src/transports/index.js';
import { runCli } from '../cli/run-cli.js';
import { startPostgresPair } from '../crashes/support/postgres-pair.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('The doctor and a broker beside this database', () => {
  it('a standby that the server does not wait for is told where a broker forgets what the inbox has', async () => {
    await using pair = await startPostgresPair((connectionString) => migrate({ connectionString }));
    const primary = new pg.Client({ connectionString: pair.primary });
    await primary.connect();
    const broker = { transport: inProcessTransport(), services: ['orders'] };
    const found = async () =>
      (await examine(primary, 'whizbang', broker)).filter(({ code }) => code === 'asynchronous-standby');
    expect(await found()).toEqual([]);
    await primary.query(`alter system set synchronous_standby_names = ''`);
    await primary.query('select pg_reload_conf()');
    await expect.poll(found).toMatchObject([{ level: 'warning', facts: { standbys: 1 } }]);
    await primary.end();
  });

  it('where no service is known, the doctor asks for its name', async () => {
    const client = await db.connect();
    const findings = await examine(client, 'whizbang', { transport: inProcessTransport(), services: [] });
    const found = findings.find(({ text }) => text.includes('in-process'));
    expect(found).toMatchObject({ code: 'unchecked', remedy: expect.stringContaining('--service') });
  });

  it('a broker that accepts connections and says nothing is a fault, and the command ends', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const transport = `nats://127.0.0.1:${port}`;
    const { code, stdout } = await runCli(['doctor', '--service', 'orders', '--transport', transport], {
      DATABASE_URL: db.connectionString,
    });
    silent.close();
    expect(code).toBe(1);
    expect(stdout).toContain('FAULT broker: The service orders cannot use nats:');
    expect(stdout).toContain('→ Start the broker, or correct the URL of --transport.');
  });

  it.each([
    ['', 'is not a URL'],
    ['amqp://', 'doctor: --transport:'],
    ['amqp://u:hun%zzter22@127.0.0.1', 'is not a valid URL'],
    ['postgres://127.0.0.1/other', '--database-url'],
  ])(
    'the transport %j is refused at once, by the name of its flag and without a password',
    async (url, said) => {
      const { code, stderr } = await runCli(['doctor', '--transport', url], {
        DATABASE_URL: db.connectionString,
      });
      expect(code).toBe(1);
      expect(stderr).toContain('--transport');
      expect(stderr).toContain(said);
      expect(stderr).not.toContain('hun');
    },
  );

  it('a service without a transport is refused by the command', async () => {
    const { code, stderr } = await runCli(['doctor', '--service', 'orders'], {
      DATABASE_URL: db.connectionString,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('--transport');
  });
});
