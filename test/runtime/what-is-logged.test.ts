import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import type { Logger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, service } from './service.js';

function recorder() {
  const logged: { level: string; text: string; facts: Record<string, unknown> }[] = [];
  const at = (level: string) => (facts: object, text: string) =>
    void logged.push({ level, text, facts: { ...facts } });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return {
    logged,
    logger,
    texts: (level: string) => logged.filter((l) => l.level === level).map((l) => l.text),
  };
}

describe('What an instance logs', () => {
  it('an instance logs its start and its stop, and nothing between while all is well', async () => {
    await using db = await createTestDatabase();
    const { logged, logger } = recorder();
    let handled = () => {};
    const wasHandled = new Promise<void>((resolve) => (handled = resolve));
    const shop = service(db, { logger, receptors: [receptor(OrderPlaced, () => handled())] });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await wasHandled;
    await shop.stop();
    const { instanceId } = shop.coordinator.instance;
    expect(logged.filter(({ level }) => level !== 'debug')).toMatchObject([
      { level: 'info', text: 'Started', facts: { service: 'shop', instanceId, processId: process.pid } },
      { level: 'info', text: 'Stopped', facts: { service: 'shop', instanceId } },
    ]);
  });

  it('an instance logs the end of an outage as a warning, like its beginning, with what to do', async () => {
    await using db = await createTestDatabase();
    const { logged, logger, texts } = recorder();
    await using shop = service(db, { logger, pollIntervalMs: 20 });
    await shop.start();
    const admin = await db.connect(); // opened before: it may write
    await admin.query(`alter database ${db.name} set default_transaction_read_only = on`);
    await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await shop.publish(OrderPlaced({ orderId: 'a' })).catch(() => {});
    const begun = 'PostgreSQL does not answer or refuses the call; reports stay queued';
    await eventually(() => expect(texts('warn')).toContain(begun));
    await admin.query(`alter database ${db.name} reset default_transaction_read_only`);
    await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await eventually(() => {
      expect(texts('warn')).toContain('PostgreSQL answers again');
      expect(texts('warn')).toContain('LISTEN works again');
    });
    expect(texts('error')).toEqual([]);
    const first = logged.find(({ text }) => text === begun);
    expect(first?.facts).toMatchObject({ code: expect.any(String), hint: expect.any(String) });
    expect(JSON.stringify(logged)).not.toContain('    at ');
  });
});
