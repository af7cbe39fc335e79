import { describe, expect, it } from 'vitest';
import type { Readiness } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { service } from './service.js';

const no: Readiness = { database: false, transport: false };
const yes: Readiness = { database: true, transport: true };

describe('Readiness', () => {
  it('an instance is ready from its start until it stops, and tells of both', async () => {
    await using db = await createTestDatabase();
    const told: Readiness[] = [];
    const shop = service(db);
    shop.on('readiness', (readiness) => told.push(readiness));
    expect(shop.readiness).toEqual(no);
    await shop.start();
    expect(shop.readiness).toEqual(yes);
    const stopped = shop.stop();
    await stopped;
    expect(shop.readiness).toEqual(no);
    expect(told).toEqual([yes, no]);
  });

  it('an instance that could not start is not ready', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const shop = service(db);
    await expect(shop.start()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    expect(shop.readiness).toEqual(no);
  });
});
