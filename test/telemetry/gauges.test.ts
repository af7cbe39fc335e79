import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Service, startService } from './support/process.js';

let db: TestDatabase;
let services: Service[];

beforeAll(async () => {
  db = await createTestDatabase();
  const { connectionString } = db;
  const plan = { service: 'ledger', connectionString, books: true };
  services = await Promise.all([startService(plan), startService(plan), startService(plan)]);
});
afterAll(async () => {
  await Promise.all(services.map((each) => each.kill()));
  await db.drop();
});

/** The instances that tell the gauges of the service now. */
async function telling(among: readonly Service[]): Promise<readonly Service[]> {
  const texts = await Promise.all(among.map((each) => each.scrape()));
  return among.filter((_, i) => /^whizbang_backlog_streams/m.test(texts[i] as string));
}

describe('The gauges of a service', () => {
  it('one instance of three tells the gauges of the service, and another one when it has died', async () => {
    // All have said by now that they observe, and what was asked before that is no longer fresh.
    const first = await eventually(async () => {
      const { rows } = await db.pool.query(`select from wh_service_instances where facts ? 'observes'`);
      expect(rows).toHaveLength(3);
      const [one, ...others] = await telling(services);
      expect(others).toEqual([]);
      return one as Service;
    });
    const lowest = services.map(({ instanceId }) => instanceId).sort()[0];
    expect(first?.instanceId).toBe(lowest);
    await first.kill();
    const left = services.filter((each) => each !== first);
    await eventually(async () => expect(await telling(left)).toHaveLength(1));
  });
});
