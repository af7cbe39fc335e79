import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { createStrategy, WorkCoordinator } from '../../src/coordination.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

it('a refusal that nobody listens to is logged without the row that was refused', async () => {
  await using db = await createTestDatabase();
  await db.pool.query(`alter table wh_outbox add constraint no_card check (event_data->>'card' is null)`);
  const logged: string[] = [];
  const log = (facts: object, text: string) => logged.push(`${text} ${inspect(facts, { depth: 9 })}`);
  const coordinator = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' } });
  const logger = { debug: log, info: log, warn: log, error: log };
  await using strategy = createStrategy('scoped', { coordinator, logger });
  const message = { messageId: randomUUID(), destination: 'shop', eventType: 'Paid' };
  strategy.queueOutboxMessage({ ...message, eventData: { card: '4111 1111' } });
  await strategy.flush();
  await eventually(() => expect(logged).toHaveLength(1));
  expect(logged[0]).toContain('no_card');
  expect(logged[0]).not.toContain('4111 1111');
});
