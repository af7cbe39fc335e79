import { fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { startTestKit } from '../../src/testing/index.js';
import { bundled } from '../support/bundled.js';
import { eventually } from '../support/eventually.js';
import { countingReceptor, effectsIn, OrderPlaced, prepareEffects, startShop } from './shop.js';

const connectionString = inject('serverUrl');

async function kitDatabases(prefix: string): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [
    prefix,
  ]);
  await client.end();
  return rows.map(({ datname }: { datname: string }) => datname);
}

const databaseOf = (url: string) => new URL(url).pathname.slice(1);

describe('The database of a kit', () => {
  it('the database of a kit is prepared once, and each kit gets a copy', async () => {
    let prepared = 0;
    const prepare: typeof prepareEffects = async (db) => {
      prepared++;
      await prepareEffects(db);
      await db.pool.query("insert into effects values ('from the start')");
    };
    await using one = await startShop({ prepare });
    await one.pool.query('delete from effects');
    await using other = await startShop({ prepare });
    expect(await effectsIn(other.pool)).toEqual(['from the start']);
    expect(prepared).toBe(1);
  });

  it('the database of a kit is on one shared embedded PostgreSQL unless a server is given', async () => {
    const { onPlaced } = countingReceptor();
    const options = { service: 'shop', receptors: [onPlaced], prepare: prepareEffects };
    await using one = await startTestKit(options);
    await using other = await startTestKit(options);
    expect(new URL(one.connectionString).host).toBe(new URL(other.connectionString).host);
    expect(new URL(one.connectionString).host).not.toBe(new URL(connectionString).host);
    await one.publish(OrderPlaced({ orderId: 'a' }));
    await one.quiet();
    expect(await effectsIn(one.pool)).toEqual(['a']);
    expect(await effectsIn(other.pool)).toEqual([]);
  });

  it('a kit with a schema handles messages and crashes in it', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced], schema: 'messaging' });
    await kit.crashDuring(OrderPlaced, () => kit.publish(OrderPlaced({ orderId: 'a' })));
    await kit.quiet();
    expect(runs).toEqual(['a', 'a']);
    expect(await kit.deadLetters()).toEqual([]);
  });

  it('the database of a kit is dropped with the kit, and when the kit cannot start', async () => {
    const kit = await startShop();
    const name = databaseOf(kit.connectionString);
    const prefix = name.replace(/\d+$/, '');
    const others = await kitDatabases(prefix);
    expect(others).toContain(name);
    await expect(startShop({ leaseSeconds: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(await kitDatabases(prefix)).toEqual(others);
    await kit.dispose();
    await kit.dispose();
    expect(await kitDatabases(prefix)).not.toContain(name);
  });

  it('the database of a kit whose process was killed is dropped by a later test process', async () => {
    const program = bundled(new URL('killed-program.ts', import.meta.url));
    const child = fork(program, [connectionString], { execArgv: [] });
    const [url] = (await once(child, 'message')) as [string];
    const prefix = databaseOf(url).replace(/\d+$/, '');
    expect(await kitDatabases(prefix)).toContain(databaseOf(url));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await eventually(async () => {
      // Another URL for the same server: for this process it is a new one, which it sweeps.
      const another = `${connectionString}?application_name=sweeper_${performance.now()}`;
      await using _ = await startShop({ database: { connectionString: another } });
      expect(await kitDatabases(prefix)).toEqual([]);
    });
  });
});
