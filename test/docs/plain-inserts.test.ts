// The guide to plain inserts: its SQL and its program run as they are written, and what it says of ids holds.
import { describe, expect } from 'vitest';
import { WorkCoordinator } from '../../src/coordination.js';
import { newMessageId } from '../../src/index.js';
import { ids, inbox, it, message, outbox } from '../support/work.js';
import { codeBlocks, pageText } from './page.js';

const page = pageText('docs/guide/plain-inserts.md');
const [atOnce = '', later = ''] = codeBlocks(page, 'sql');
const [program = ''] = codeBlocks(page, 'ts');

type Program = (...given: unknown[]) => Promise<void>;
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...texts: string[]
) => Program;

describe('The guide to plain inserts', () => {
  it('the guide to plain inserts has an insert that sends at once, and one that sends later', async ({
    db,
    a,
  }) => {
    await db.pool.query(atOnce);
    await db.pool.query(later);
    expect(await a.call()).toMatchObject([{ event_type: 'OrderPlaced', event_data: { total: 42 } }]);
    expect(await outbox.rows(db)).toMatchObject([
      { event_type: 'OrderPlaced' },
      { event_type: 'ReminderDueEvent', is_event: true, instance_id: null },
    ]);
  });

  it('the guide to plain inserts has a program that sends in its own transaction', async ({ db, a }) => {
    await db.pool.query('create table orders (id uuid primary key, total int)');
    const coordinator = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' } });
    const orderId = newMessageId();
    const run = new AsyncFunction('pool', 'coordinator', 'newMessageId', 'orderId', program);
    await run(db.pool, coordinator, newMessageId, orderId);
    const { rows } = await db.pool.query('select id from orders');
    expect(rows).toEqual([{ id: orderId }]);
    expect(await a.call({ p_takeover_seconds: 0 })).toMatchObject([{ stream_id: orderId }]);
  });

  it('a plain insert under the id of an unfinished message fails, and is accepted once that is done', async ({
    db,
    a,
  }) => {
    const sent = message();
    await outbox.insertPlain(db.pool, sent);
    await expect(outbox.insertPlain(db.pool, sent)).rejects.toMatchObject({ code: '23505' });
    await a.call(outbox.completes(await a.call()));
    await outbox.insertPlain(db.pool, sent);
    expect(ids(await a.call())).toEqual([sent.message_id]);
  });

  it('a plain insert into the inbox is handed out and not deduplicated', async ({ db, a }) => {
    const sent = message();
    for (let time = 0; time < 2; time++) {
      await inbox.insertPlain(db.pool, sent);
      const work = await a.call();
      expect(ids(work)).toEqual([sent.message_id]);
      await a.call(inbox.completes(work));
    }
  });
});
