import { describe, expect, it } from 'vitest';
import { migrate, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, service } from './service.js';

describe('A service whose schema is broken', () => {
  it('a service with a broken schema delays no other service, and gets its messages once it is repaired', async () => {
    await using db = await createTestDatabase();
    for (const schema of ['billing', 'mail']) await migrate({ pool: db.pool, schema });
    const seen: string[] = [];
    const errors: { code: string; message: string }[] = [];
    const into = (schema: string) => {
      const onPlaced = receptor(OrderPlaced, ({ step }) => void seen.push(`${schema} ${step}`));
      return service(db, { service: schema, schema, receptors: [onPlaced] });
    };
    await using billing = into('billing');
    await using mail = into('mail');
    await using shop = service(db, { retry: { firstDelaySeconds: 0.1, factor: 1, attempts: 1000 } });
    for (const each of [billing, mail, shop]) await each.start();
    shop.on('failure', ({ error }) => errors.push(error as { code: string; message: string }));
    await db.pool.query('alter table mail.wh_message_deduplication rename to gone');
    for (const step of [1, 2]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await eventually(() => expect(seen).toContain('billing 1'));
    await eventually(() => expect(errors.length).toBeGreaterThan(0));
    expect(errors[0]).toMatchObject({
      code: 'NOT_MIGRATED',
      message: expect.stringContaining('The receiver in schema "mail" failed: '),
    });
    await db.pool.query('alter table mail.gone rename to wh_message_deduplication');
    await eventually(() => {
      for (const name of ['billing', 'mail']) {
        expect(seen.filter((each) => each.startsWith(name))).toEqual([`${name} 1`, `${name} 2`]);
      }
    });
  });
});
